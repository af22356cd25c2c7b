// The plugin in a controller manager with mock hardware.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cmath>
#include <fstream>
#include <future>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "controller_manager/controller_manager.hpp"
#include "rclcpp/rclcpp.hpp"

#include "@PACKAGE@/controller.hpp"

namespace
{

thread_local bool counting = false;
thread_local std::size_t allocations = 0;

}  // namespace

void * operator new(std::size_t size)
{
  allocations += counting;
  if (void * found = std::malloc(size > 0 ? size : 1)) {
    return found;
  }
  throw std::bad_alloc();
}
void operator delete(void * memory) noexcept {std::free(memory);}
void operator delete(void * memory, std::size_t) noexcept {std::free(memory);}

namespace
{

using controller_interface::return_type;
constexpr std::size_t n = @PACKAGE@::model::joints;
const @PACKAGE@::Joints start = @START_CPP@;
const std::vector<double> limits(n, 1e4);

std::string text_of(const std::string & file)
{
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

class Manager : public testing::TestWithParam<std::string>
{
protected:
  void SetUp() override
  {
    executor_ = std::make_shared<rclcpp::executors::SingleThreadedExecutor>();
    manager_ = std::make_shared<controller_manager::ControllerManager>(
      executor_, text_of(MOCK_URDF), true, "test_manager");
    executor_->add_node(manager_);
    spin_ = std::thread([this] {executor_->spin();});
    // Parameters reach the controller's node as they would from a file.
    const auto node = manager_->load_controller("c", "@PACKAGE@/Controller");
    ASSERT_NE(node, nullptr);
    controller_ = node;
    controller_->get_node()->set_parameters({
        {"mode", GetParam()}, {"ramp", 0.0}, {"torque_limits", limits},
        {"reference_tolerance", 10.0}});
    ASSERT_EQ(manager_->configure_controller("c"), return_type::OK);
    auto switched = std::async(std::launch::async, [this] {
          return manager_->switch_controller({"c"}, {}, 2, true, rclcpp::Duration::from_seconds(2));
        });
    while (switched.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
      cycle();
    }
    ASSERT_EQ(switched.get(), return_type::OK);
  }

  void TearDown() override
  {
    executor_->cancel();
    spin_.join();
  }

  void cycle()
  {
    const auto period = rclcpp::Duration::from_seconds(0.001);
    const auto time = manager_->get_trigger_clock()->now();
    manager_->read(time, period);
    manager_->update(time, period);
    manager_->write(time, period);
  }

  std::shared_ptr<rclcpp::executors::SingleThreadedExecutor> executor_;
  std::shared_ptr<controller_manager::ControllerManager> manager_;
  controller_interface::ControllerInterfaceBaseSharedPtr controller_;
  std::thread spin_;
};

TEST_P(Manager, holds_the_mock_robot_with_the_torque_of_the_model)
{
  for (int k = 0; k < 20; ++k) {
    cycle();
  }
  ASSERT_EQ(
    controller_->get_lifecycle_state().id(), lifecycle_msgs::msg::State::PRIMARY_STATE_ACTIVE);
  const auto & report = std::dynamic_pointer_cast<@PACKAGE@::Controller>(controller_)->report();
  @PACKAGE@::Joints zero{}, wanted{};
  @PACKAGE@::model::torque_without_friction(
    start.data(), zero.data(), zero.data(), wanted.data());
  for (std::size_t j = 0; j < n; ++j) {
    EXPECT_NEAR(report.position_error[j], 0.0, 1e-12);
    EXPECT_NEAR(report.effort[j], wanted[j], 1e-9 * (1.0 + std::abs(wanted[j])));
    // What the hardware got, it reports as its state.
    EXPECT_NEAR(report.measured[j], wanted[j], 1e-9 * (1.0 + std::abs(wanted[j])));
  }
}

TEST_P(Manager, allocates_nothing_in_update_and_is_fast)
{
  const auto time = manager_->get_trigger_clock()->now();
  const auto period = rclcpp::Duration::from_seconds(0.001);
  constexpr int rounds = 20000;
  for (int k = 0; k < 100; ++k) {
    controller_->update(time, period);
  }
  allocations = 0;
  counting = true;
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < rounds; ++k) {
    controller_->update(time, period);
  }
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  counting = false;
  EXPECT_EQ(allocations, 0u);
  std::printf("update in %s: %.2f us\n", GetParam().c_str(), took.count() / rounds);
}

INSTANTIATE_TEST_SUITE_P(
  modes, Manager,
  testing::Values("gravity_compensation", "feed_forward", "computed_torque"));

}  // namespace

int main(int argc, char ** argv)
{
  testing::InitGoogleTest(&argc, argv);
  rclcpp::init(argc, argv);
  const int result = RUN_ALL_TESTS();
  rclcpp::shutdown();
  return result;
}
