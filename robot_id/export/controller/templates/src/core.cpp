#include "@PACKAGE@/core.hpp"

#include <algorithm>
#include <cmath>

namespace @PACKAGE@
{

namespace
{

constexpr std::size_t n = model::joints;

/// A step from 0 to 1 with its derivatives by x, at rest at both ends.
struct Step
{
  double value, slope, curve;
};

Step smooth_step(double x)
{
  if (x >= 1.0) {return {1.0, 0.0, 0.0};}
  if (x <= 0.0) {return {0.0, 0.0, 0.0};}
  return {
    x * x * x * (10.0 + x * (6.0 * x - 15.0)),
    30.0 * x * x * (1.0 - x) * (1.0 - x),
    60.0 * x * (1.0 - x) * (1.0 - 2.0 * x)};
}

Step ramp_at(double time, double duration)
{
  if (!(duration > 0.0)) {return {1.0, 0.0, 0.0};}
  Step step = smooth_step(time / duration);
  step.slope /= duration;
  step.curve /= duration * duration;
  return step;
}

double number_or_zero(double value)
{
  return std::isfinite(value) ? value : 0.0;
}

}  // namespace

const char * text_of(Status status)
{
  switch (status) {
    case Status::running: return "running";
    case Status::ramping: return "ramping";
    case Status::holding: return "holding: no usable reference";
    case Status::state_missing: return "no usable state, last command kept";
    case Status::fault: return "no usable state, effort 0 until the next activation";
  }
  return "unknown";
}

void resisting_friction(const Joints & q, const Joints & dq, const Joints & ddq, Joints & tau)
{
  Joints whole, bodies;
  model::torque(q.data(), dq.data(), ddq.data(), whole.data());
  model::torque_without_friction(q.data(), dq.data(), ddq.data(), bodies.data());
  Joints power{};
  for (std::size_t j = 0; j < n; ++j) {
    tau[j] = whole[j] - bodies[j];
    power[model::group[j]] += tau[j] * dq[j];
  }
  for (std::size_t j = 0; j < n; ++j) {
    tau[j] = power[model::group[j]] > 0.0 ? tau[j] : 0.0;
  }
}

void Core::activate(const Measured & measured, const Joints & effort_before)
{
  *this = Core();
  held_ = measured.position;
  used_.position = measured.position;
  last_.position = measured.position;
  for (std::size_t j = 0; j < n; ++j) {
    effort_before_[j] = number_or_zero(effort_before[j]);
    // No measurement yet: the first one is new whatever it is.
    last_position_[j] = last_velocity_[j] = NAN;
  }
  last_.effort = effort_before_;
}

bool Core::usable(const Measured & measured) const
{
  bool finite = true, repeated = true, at_rest = true;
  for (std::size_t j = 0; j < n; ++j) {
    finite = finite && std::isfinite(measured.position[j]) && std::isfinite(measured.velocity[j]) &&
      (!measured.has_effort || std::isfinite(measured.effort[j]));
    repeated = repeated && measured.position[j] == last_position_[j] &&
      measured.velocity[j] == last_velocity_[j];
    at_rest = at_rest && measured.velocity[j] == 0.0;
  }
  // A joint that moves does not read the same position twice: the measurement stands still.
  return finite && (at_rest || !repeated);
}

void Core::follow(
  const Settings & settings, const Measured & measured, const Reference & reference,
  double reference_age, double dt)
{
  bool good = reference_age <= settings.reference_timeout;
  for (std::size_t j = 0; j < n; ++j) {
    good = good && std::isfinite(reference.position[j]) &&
      std::abs(reference.position[j] - measured.position[j]) <= settings.reference_tolerance;
  }
  if (!good && following_) {
    held_ = used_.position;
    held_velocity_ = used_.velocity;
  }
  since_reference_ = good && following_ ? since_reference_ + dt : 0.0;
  following_ = good;

  const double rate = settings.stop_time > 0.0 ? 1.0 / settings.stop_time : 0.0;
  const double left = rate > 0.0 ? std::exp(-rate * dt) : 0.0;
  const Step s = good ? ramp_at(since_reference_, settings.ramp) : Step{0.0, 0.0, 0.0};
  for (std::size_t j = 0; j < n; ++j) {
    const double before = held_velocity_[j];
    held_velocity_[j] = left * before;
    held_[j] += rate > 0.0 ? (before - held_velocity_[j]) / rate : 0.0;
    const double h = held_[j], dh = held_velocity_[j], ddh = -rate * dh;
    const double r = good ? reference.position[j] : h;
    const double dr = good ? number_or_zero(reference.velocity[j]) : dh;
    const double ddr = good ? number_or_zero(reference.acceleration[j]) : ddh;
    used_.position[j] = h + s.value * (r - h);
    used_.velocity[j] = dh + s.value * (dr - dh) + s.slope * (r - h);
    used_.acceleration[j] =
      ddh + s.value * (ddr - ddh) + 2.0 * s.slope * (dr - dh) + s.curve * (r - h);
  }
}

void Core::observe(const Settings & settings, const Measured & measured, double dt)
{
  // Momentum p = M dq, dp/dt = tau - N + (dM/dt) dq + tau_external (De Luca and Mattone).
  std::array<double, n * n> inertia;
  Joints bias;
  model::inertia_matrix(measured.position.data(), inertia.data());
  model::bias(measured.position.data(), measured.velocity.data(), bias.data());
  for (std::size_t i = 0; i < n; ++i) {
    double momentum = 0.0, change = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      momentum += inertia[n * i + j] * measured.velocity[j];
      change += (inertia[n * i + j] - last_inertia_[n * i + j]) * measured.velocity[j];
    }
    if (!observing_) {
      expected_momentum_[i] = momentum;
      report_.external[i] = 0.0;
    } else {
      expected_momentum_[i] += (report_.measured[i] - bias[i]) * dt + change;
      // Implicit in the estimate: stable at any gain and step.
      report_.external[i] = settings.observer_gain * (momentum - expected_momentum_[i]) /
        (1.0 + settings.observer_gain * dt);
      expected_momentum_[i] += report_.external[i] * dt;
    }
  }
  last_inertia_ = inertia;
  observing_ = true;
}

Status Core::update(
  const Settings & settings, const Measured & measured, const Reference & reference,
  double reference_age, double dt, Command & command)
{
  if (fault_ || !usable(measured)) {
    without_state_ += dt;
    observing_ = false;
    fault_ = fault_ || without_state_ > settings.state_timeout;
    if (fault_) {
      last_.effort.fill(0.0);
    }
    command = last_;
    report_.effort = command.effort;
    report_.status = fault_ ? Status::fault : Status::state_missing;
    return report_.status;
  }
  without_state_ = 0.0;
  last_position_ = measured.position;
  last_velocity_ = measured.velocity;
  report_.measured = measured.has_effort ? measured.effort : last_.effort;
  observe(settings, measured, dt);

  since_activation_ += dt;
  follow(settings, measured, reference, reference_age, dt);
  const Joints & q = measured.position, & dq = measured.velocity;
  const Joints zero{};
  Joints tau{}, friction{};
  switch (settings.mode) {
    case Mode::gravity_compensation:
      model::torque_without_friction(q.data(), zero.data(), zero.data(), tau.data());
      break;
    case Mode::feed_forward:
      model::torque_without_friction(
        used_.position.data(), used_.velocity.data(), used_.acceleration.data(), tau.data());
      resisting_friction(used_.position, used_.velocity, used_.acceleration, friction);
      break;
    case Mode::computed_torque:
      Joints wanted;
      for (std::size_t j = 0; j < n; ++j) {
        wanted[j] = used_.acceleration[j] + settings.kd[j] * (used_.velocity[j] - dq[j]) +
          settings.kp[j] * (used_.position[j] - q[j]);
      }
      model::torque_without_friction(q.data(), dq.data(), wanted.data(), tau.data());
      resisting_friction(q, used_.velocity, used_.acceleration, friction);
      break;
  }
  const double s = ramp_at(since_activation_, settings.ramp).value;
  report_.limited = false;
  for (std::size_t j = 0; j < n; ++j) {
    const double whole = tau[j] + settings.friction_scale * friction[j];
    const double blended = effort_before_[j] + s * (whole - effort_before_[j]);
    const double limit = settings.torque_limit[j];
    last_.effort[j] = std::clamp(blended, -limit, limit);
    report_.limited = report_.limited || last_.effort[j] != blended;
    report_.position_error[j] = used_.position[j] - q[j];
    report_.velocity_error[j] = used_.velocity[j] - dq[j];
  }
  last_.position = used_.position;
  command = last_;
  report_.effort = last_.effort;
  model::torque(
    used_.position.data(), used_.velocity.data(), used_.acceleration.data(),
    report_.predicted.data());
  const bool guided = settings.mode == Mode::gravity_compensation;
  const bool ramping = s < 1.0 || (following_ && since_reference_ < settings.ramp && !guided);
  report_.status = ramping ? Status::ramping :
    following_ || guided ? Status::running : Status::holding;
  return report_.status;
}

}  // namespace @PACKAGE@
