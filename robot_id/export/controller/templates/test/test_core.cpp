// The core against reference values and in closed loop with its own direct model: no ROS.
// Exit code 0: all held. The last line is the time of one update.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <random>
#include <thread>

#include "@PACKAGE@/core.hpp"
#include "@PACKAGE@/exchange.hpp"
#include "reference_states.hpp"

namespace
{

std::size_t allocations = 0;

}  // namespace

void * operator new(std::size_t size)
{
  ++allocations;
  if (void * found = std::malloc(size > 0 ? size : 1)) {
    return found;
  }
  throw std::bad_alloc();
}
void operator delete(void * memory) noexcept {std::free(memory);}
void operator delete(void * memory, std::size_t) noexcept {std::free(memory);}

namespace
{

using namespace @PACKAGE@;  // NOLINT(build/namespaces)
constexpr std::size_t n = model::joints;
constexpr double dt = 0.001;  // s
int failures = 0;

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      std::printf("%s:%d: %s\n", __func__, __LINE__, #condition); \
      ++failures; \
    } \
  } while (false)

double largest(const Joints & joints)
{
  double found = 0.0;
  for (const double value : joints) {
    found = std::max(found, std::abs(value));
  }
  return found;
}

double distance(const Joints & a, const Joints & b)
{
  Joints difference;
  for (std::size_t j = 0; j < n; ++j) {
    difference[j] = a[j] - b[j];
  }
  return largest(difference);
}

Joints state(const double (&table)[states][n], int k)
{
  Joints found;
  std::copy_n(table[k], n, found.begin());
  return found;
}

Settings plain(Mode mode)
{
  Settings settings;
  settings.mode = mode;
  settings.ramp = 0.0;
  settings.friction_scale = 1.0;
  settings.torque_limit.fill(1e9);
  settings.kp.fill(400.0);
  settings.kd.fill(40.0);
  settings.reference_tolerance = 10.0;
  return settings;
}

Measured at(const Joints & position, const Joints & velocity = {})
{
  Measured measured;
  measured.position = position;
  measured.velocity = velocity;
  return measured;
}

void torques_equal_those_of_robot_id()
{
  Joints tau;
  for (int k = 0; k < states; ++k) {
    model::torque(q[k], dq[k], ddq[k], tau.data());
    CHECK(distance(tau, state(whole, k)) <= 1e-10 * (1.0 + largest(tau)));
    model::torque_without_friction(q[k], dq[k], ddq[k], tau.data());
    CHECK(distance(tau, state(bodies, k)) <= 1e-10 * (1.0 + largest(tau)));
  }
}

void friction_never_pushes()
{
  Joints friction;
  for (int k = 0; k < states; ++k) {
    resisting_friction(state(q, k), state(dq, k), state(ddq, k), friction);
    Joints power{};
    for (std::size_t j = 0; j < n; ++j) {
      power[model::group[j]] += friction[j] * dq[k][j];
    }
    for (std::size_t j = 0; j < n; ++j) {
      const double wanted = whole[k][j] - bodies[k][j];
      CHECK(power[j] >= 0.0);
      CHECK(friction[j] == 0.0 || std::abs(friction[j] - wanted) <= 1e-9 * (1.0 + std::abs(wanted)));
    }
    resisting_friction(state(q, k), Joints{}, state(ddq, k), friction);
    CHECK(largest(friction) == 0.0);
  }
}

void gravity_compensation_holds_the_measured_pose()
{
  for (int k = 0; k < states; ++k) {
    Core core;
    Command command;
    const Joints zero{};
    Joints wanted;
    core.activate(at(state(q, k)), zero);
    // A hand moves it: no friction is compensated, whatever the measured velocity.
    const Status status = core.update(
      plain(Mode::gravity_compensation), at(state(q, k), state(dq, k)), {}, 1e9, dt, command);
    model::torque_without_friction(q[k], zero.data(), zero.data(), wanted.data());
    CHECK(status == Status::running);
    CHECK(distance(command.effort, wanted) == 0.0);
  }
}

void feed_forward_follows_the_reference()
{
  for (int k = 0; k < states; ++k) {
    Settings settings = plain(Mode::feed_forward);
    settings.friction_scale = 0.5;
    const Reference reference{state(q, k), state(dq, k), state(ddq, k)};
    Core core;
    Command command;
    core.activate(at(state(q, k)), Joints{});
    core.update(settings, at(state(q, k)), reference, 0.0, dt, command);
    CHECK(distance(command.position, reference.position) == 0.0);
    Joints friction;
    resisting_friction(reference.position, reference.velocity, reference.acceleration, friction);
    for (std::size_t j = 0; j < n; ++j) {
      const double wanted = bodies[k][j] + 0.5 * friction[j];
      CHECK(std::abs(command.effort[j] - wanted) <= 1e-9 * (1.0 + std::abs(wanted)));
    }
  }
}

/// The model under a torque for dt, in steps short enough for its friction.
bool move(Measured & measured, const Joints & tau)
{
  constexpr int steps = 50;
  Joints acceleration;
  for (int k = 0; k < steps; ++k) {
    if (model::direct_dynamics(
        measured.position.data(), measured.velocity.data(), tau.data(), acceleration.data()) != 0)
    {
      return false;
    }
    for (std::size_t j = 0; j < n; ++j) {
      measured.velocity[j] += dt / steps * acceleration[j];
      measured.position[j] += dt / steps * measured.velocity[j];
    }
  }
  return true;
}

void computed_torque_tracks()
{
  Core core;
  Measured measured = at(state(q, 0));
  Joints start = measured.position;
  Command command;
  core.activate(measured, Joints{});
  Reference reference;
  double error = 0.0;
  for (int k = 0; k < 2000; ++k) {
    const double t = k * dt, w = 3.0, size = 0.1;
    for (std::size_t j = 0; j < n; ++j) {
      reference.position[j] = start[j] + size * (1.0 - std::cos(w * t));
      reference.velocity[j] = size * w * std::sin(w * t);
      reference.acceleration[j] = size * w * w * std::cos(w * t);
    }
    core.update(plain(Mode::computed_torque), measured, reference, 0.0, dt, command);
    CHECK(move(measured, command.effort));
    error = std::max(error, largest(core.report().position_error));
  }
  CHECK(error < 0.02);  // of 0.2: a perfect model, sampled
}

void limits_hold()
{
  Settings settings = plain(Mode::computed_torque);
  settings.torque_limit.fill(1e-3);
  Reference reference;
  reference.position = state(q, 0);
  for (double & value : reference.position) {
    value += 0.4;
  }
  Core core;
  Command command;
  core.activate(at(state(q, 0)), Joints{});
  core.update(settings, at(state(q, 0)), reference, 0.0, dt, command);
  CHECK(core.report().limited);
  CHECK(largest(command.effort) <= 1e-3);
}

void activation_begins_where_the_robot_is()
{
  Settings settings = plain(Mode::feed_forward);
  settings.ramp = 0.5;
  Joints before, pose = state(q, 1);
  before.fill(0.25);
  Reference reference;
  reference.position = pose;
  for (double & value : reference.position) {
    value += 0.2;
  }
  Core core;
  Command command, last;
  core.activate(at(pose), before);
  double step = 0.0;
  Status status = core.update(settings, at(pose), reference, 0.0, dt, last);
  CHECK(status == Status::ramping);
  CHECK(distance(last.effort, before) < 1e-3 * (1.0 + largest(before)));
  CHECK(distance(last.position, pose) < 1e-6);
  for (int k = 0; k < 1000; ++k) {
    status = core.update(settings, at(pose), reference, 0.0, dt, command);
    step = std::max(step, distance(command.position, last.position));
    last = command;
  }
  CHECK(status == Status::running);
  CHECK(step <= 0.2 * 1.9 * dt / settings.ramp);  // the quintic's steepest slope is 1.875
  CHECK(distance(command.position, reference.position) == 0.0);
}

void a_lost_reference_stops_and_comes_back_smoothly()
{
  Settings settings = plain(Mode::feed_forward);
  settings.ramp = 0.5;
  settings.reference_tolerance = 100.0;
  Core core;
  Command command, last;
  Joints pose = state(q, 2);
  core.activate(at(pose), Joints{});
  Reference reference;
  reference.position = pose;
  last.position = pose;
  const double speed = 0.3;
  double jump = 0.0;
  Status status = Status::holding;
  Joints lost{};
  for (int k = 0; k < 4000; ++k) {
    for (std::size_t j = 0; j < n; ++j) {
      reference.position[j] = pose[j] + speed * k * dt;
      reference.velocity[j] = speed;
    }
    // Silent from 1.5 s to 2.5 s.
    const double age = k >= 1500 && k < 2500 ? (k - 1500) * dt : 0.0;
    status = core.update(settings, at(last.position), reference, age, dt, command);
    jump = std::max(jump, distance(command.position, last.position));
    if (k == 1600) {lost = command.position;}
    if (k == 2400) {
      CHECK(status == Status::holding);
      CHECK(distance(command.position, last.position) < 1e-5);
      CHECK(distance(command.position, lost) < 1.1 * speed * settings.stop_time);
    }
    last = command;
  }
  CHECK(status == Status::running);
  CHECK(distance(command.position, reference.position) < 1e-9);
  CHECK(jump < 10.0 * speed * dt);
}

void a_far_or_missing_reference_is_not_followed()
{
  Settings settings = plain(Mode::feed_forward);
  settings.reference_tolerance = 0.3;
  const Joints pose = state(q, 3);
  Core core;
  Command command;
  core.activate(at(pose), Joints{});
  for (const double far : {0.4, std::nan(""), HUGE_VAL}) {
    Reference reference;
    reference.position = pose;
    reference.position[n - 1] += far;
    CHECK(core.update(settings, at(pose), reference, 0.0, dt, command) == Status::holding);
    CHECK(distance(command.position, pose) == 0.0);
  }
}

void a_missing_state_ends_in_zero_effort()
{
  const Settings settings = plain(Mode::gravity_compensation);
  Measured measured = at(state(q, 0));
  Core core;
  Command command;
  core.activate(measured, Joints{});
  core.update(settings, measured, {}, 1e9, dt, command);
  const Joints good = command.effort;
  measured.position[0] = std::nan("");
  double without = 0.0;
  while (without + dt <= settings.state_timeout) {
    CHECK(core.update(settings, measured, {}, 1e9, dt, command) == Status::state_missing);
    CHECK(distance(command.effort, good) == 0.0);
    without += dt;
  }
  for (int k = 0; k < 3; ++k) {
    core.update(settings, measured, {}, 1e9, dt, command);
  }
  CHECK(largest(command.effort) == 0.0);
  // It stays so although the state is back, until the next activation.
  measured = at(state(q, 0));
  CHECK(core.update(settings, measured, {}, 1e9, dt, command) == Status::fault);
  CHECK(largest(command.effort) == 0.0);
  core.activate(measured, Joints{});
  CHECK(core.update(settings, measured, {}, 1e9, dt, command) == Status::running);
}

void a_state_that_stands_still_is_noticed()
{
  const Settings settings = plain(Mode::gravity_compensation);
  Joints velocity{};
  Core core;
  Command command;
  Status status = Status::running;
  const Joints pose = state(q, 0);
  core.activate(at(pose), Joints{});
  for (int k = 0; k < 100; ++k) {
    status = core.update(settings, at(pose, velocity), {}, 1e9, dt, command);
  }
  CHECK(status == Status::running);  // at rest
  velocity[0] = 0.1;
  for (int k = 0; k < 100; ++k) {
    status = core.update(settings, at(pose, velocity), {}, 1e9, dt, command);
  }
  CHECK(status == Status::fault);  // it says that it moves, and does not
}

void the_residual_is_the_external_torque()
{
  Settings settings = plain(Mode::computed_torque);
  Core core;
  Measured measured = at(state(q, 0));
  Command command;
  Reference reference;
  core.activate(measured, Joints{});
  Joints external{};
  double false_alarm = 0.0;
  const Joints start = measured.position;
  for (int k = 0; k < 3000; ++k) {
    const double t = k * dt;
    for (std::size_t j = 0; j < n; ++j) {
      reference.position[j] = start[j] + 0.1 * (1.0 - std::cos(2.0 * t));
      reference.velocity[j] = 0.2 * std::sin(2.0 * t);
      reference.acceleration[j] = 0.4 * std::cos(2.0 * t);
    }
    core.update(settings, measured, reference, 0.0, dt, command);
    if (k == 1499) {
      false_alarm = largest(core.report().external);
      external.fill(2.0);
    }
    Joints tau;
    for (std::size_t j = 0; j < n; ++j) {
      tau[j] = command.effort[j] + external[j];
    }
    CHECK(move(measured, tau));
  }
  CHECK(false_alarm < 0.2);
  CHECK(distance(core.report().external, external) < 0.2);
}

void the_exchange_is_whole_and_in_order()
{
  struct Pair
  {
    long a, b;
  };
  Exchange<Pair> exchange;
  constexpr long last = 200000;
  std::thread writer([&] {
      for (long k = 1; k <= last; ++k) {
        exchange.write({k, -k});
      }
    });
  long before = 0;
  while (before < last) {
    Pair found{};
    exchange.read(found);
    CHECK(found.a == -found.b && found.a >= before);
    if (found.a < before) {break;}
    before = found.a;
  }
  writer.join();
}

void time_of_an_update()
{
  Settings settings = plain(Mode::computed_torque);
  Core core;
  Command command;
  core.activate(at(state(q, 0)), Joints{});
  constexpr int blocks = 20, rounds = 1000;
  double check = 0.0, best = HUGE_VAL;
  const std::size_t before = allocations;
  for (int block = 0; block < blocks; ++block) {
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < rounds; ++k) {
      const int s = k % states;
      const Reference reference{state(q, s), state(dq, s), state(ddq, s)};
      core.update(settings, at(state(q, s), state(dq, s)), reference, 0.0, dt, command);
      check += command.effort[0];
    }
    const std::chrono::duration<double, std::micro> took =
      std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / rounds);  // without what else the machine does
  }
  CHECK(std::isfinite(check));
  CHECK(allocations == before);
  std::printf("update of %zu joints: %.2f us\n", n, best);
}

}  // namespace

int main()
{
  torques_equal_those_of_robot_id();
  friction_never_pushes();
  gravity_compensation_holds_the_measured_pose();
  feed_forward_follows_the_reference();
  computed_torque_tracks();
  limits_hold();
  activation_begins_where_the_robot_is();
  a_lost_reference_stops_and_comes_back_smoothly();
  a_far_or_missing_reference_is_not_followed();
  a_missing_state_ends_in_zero_effort();
  a_state_that_stands_still_is_noticed();
  the_residual_is_the_external_torque();
  the_exchange_is_whole_and_in_order();
  time_of_an_update();
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
