"""Recordings whose stamps jump or whose messages are damaged are played to their end."""

from library_bag import Bag

from robot_id.data.io.bags.replay import BagReplay

SECOND = 10**9
MILLI = 10**6


def played(path, stamps, damaged=()):
    with Bag(path) as bag:
        for k, stamp in enumerate(stamps):
            bag.state(stamp, ('a',), [0.1 * k], [1.0], log=SECOND + k * MILLI)
            if k in damaged:
                bag.writer.write(bag.topics['/joint_states'], SECOND + k * MILLI, b'\x00\x01')
    replay, sent = BagReplay(path, rate=100.0), []
    assert replay.play(lambda topic, now, data: sent.append(now))
    return replay, sent


def test_stamps_of_another_time_are_not_waited_for(tmp_path):
    stamps = [SECOND + k * MILLI for k in range(50)]
    # Ten years ahead and back, an hour ahead and back: four jumps.
    stamps[20] += 10 * 365 * 86400 * SECOND
    stamps[30] += 3600 * SECOND
    replay, sent = played(tmp_path / 'bag', stamps)
    assert sent == stamps
    assert replay.jumps == 4
    assert replay.position_s < 0.05


def test_messages_that_are_none_are_left_out_and_counted(tmp_path):
    stamps = [SECOND + k * MILLI for k in range(50)]
    replay, sent = played(tmp_path / 'bag', stamps, damaged=(5, 6))
    assert sent == stamps
    assert (replay.damaged, replay.jumps) == (2, 0)


def test_a_clean_recording_has_nothing_to_count(tmp_path):
    replay, sent = played(tmp_path / 'bag', [SECOND + k * MILLI for k in range(50)])
    assert len(sent) == replay.counts['/joint_states'] == 50
    assert (replay.damaged, replay.jumps) == (0, 0)
