"""Example, build file and README of the exported model."""

from __future__ import annotations

from robot_id.export.c_code.model_source import ModelSource
from robot_id.texts import markdown


def example(model: ModelSource) -> str:
    """Return example.c: one control step."""
    p, up = model.prefix, model.prefix.upper()
    return f"""\
/* One step of a computed-torque controller. */
#include <stdio.h>

#include "{p}_model.h"

#define N {up}_JOINTS

int main(void)
{{
    const double kp = 400.0, kv = 40.0; /* 1/s^2, 1/s */
    double q[N], dq[N], reference[N], wanted[N], tau[N], ddq[N];
    int j;
    for (j = 0; j < N; ++j) {{
        q[j] = 0.1 * (j + 1);
        dq[j] = 0.0;
        reference[j] = q[j] + 0.01;
        wanted[j] = kp * (reference[j] - q[j]) - kv * dq[j];
    }}
    {p}_inverse_dynamics(q, dq, wanted, tau);
    if ({p}_direct_dynamics(q, dq, tau, ddq) != 0) return 1;
    for (j = 0; j < N; ++j) {{
        printf("joint %d: torque %g gives acceleration %g, wanted %g\\n",
               j, tau[j], ddq[j], wanted[j]);
    }}
    return 0;
}}
"""


def cmake(model: ModelSource) -> str:
    """Return CMakeLists.txt: the library, the example and the self-test for ctest."""
    p = model.prefix
    return f"""\
cmake_minimum_required(VERSION 3.10)
project({p}_model C)
set(CMAKE_C_STANDARD 99)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library({p}_model STATIC {p}_model.c)
target_include_directories({p}_model PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
target_link_libraries({p}_model PUBLIC m)
set_target_properties({p}_model PROPERTIES POSITION_INDEPENDENT_CODE ON)

add_executable({p}_example example.c)
target_link_libraries({p}_example {p}_model)

add_executable({p}_self_test self_test.c)
target_link_libraries({p}_self_test {p}_model)
enable_testing()
add_test(NAME {p}_self_test COMMAND {p}_self_test)
"""


def readme(model: ModelSource, origin: str) -> str:
    """Return README.md."""
    p, robot, origin = model.prefix, model.robot, markdown(origin)
    joints = ', '.join(f'{j}: {markdown(name)}' for j, name in enumerate(robot.joint_names))
    listed = ''.join(
        f'| `{p}_{name}` | {exported.about.splitlines()[0]} |\n'
        for name, exported in model.functions.items()
    )
    return f"""\
# Dynamic model of {markdown(robot.name)}

C99 code made from identified parameters ({origin}). It needs nothing but libm, allocates nothing,
has no global data and takes the same time at every call. C++ may include the header.

```
cmake -S . -B build && cmake --build build && ctest --test-dir build
```

or without CMake: `cc -std=c99 -O2 self_test.c {p}_model.c -lm -o self_test && ./self_test`.

| function | what |
|---|---|
{listed}
A name that ends in `_with` takes the {len(robot.base)} base parameters `chi` as its first argument
instead of the identified ones; `{p}_parameters` fills in those.

Joints: {joints}. Positions in rad (m for a slide), velocities in rad/s, accelerations in rad/s^2,
torques in N.m (N), all on the joint side; matrices row by row. Coulomb friction is
2/pi atan({model.slope:g} dq). Torques come from the reference motion or from the measured one: for
feed-forward use reference velocities, so that noise does not shake the friction.

Check what you feed in: a value that is not a number gives torques that are not numbers.
Saturate torques before they go to the drives.
"""
