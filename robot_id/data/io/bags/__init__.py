"""rosbag2 recordings: messages in bulk, storage, mcap read and written, replay."""
