// One value from one thread to another: no lock, no wait, no allocation on either side.
#ifndef @GUARD@__EXCHANGE_HPP_
#define @GUARD@__EXCHANGE_HPP_

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace @PACKAGE@
{

/// The newest value that one thread wrote, for one thread that reads.
///
/// Three copies: the writer owns one, the reader owns one, the third changes hands.
template <typename T>
class Exchange
{
  static_assert(std::is_trivially_copyable_v<T>, "copied while another thread works");
  static_assert(std::atomic<std::uint8_t>::is_always_lock_free);

public:
  void write(const T & value)
  {
    copies_[written_] = value;
    written_ = shared_.exchange(
      static_cast<std::uint8_t>(written_ | fresh), std::memory_order_acq_rel) & index;
  }

  /// Copies the newest value; returns whether it was not read before.
  bool read(T & value)
  {
    const bool is_new = (shared_.load(std::memory_order_acquire) & fresh) != 0;
    if (is_new) {
      read_ = shared_.exchange(read_, std::memory_order_acq_rel) & index;
    }
    value = copies_[read_];
    return is_new;
  }

private:
  static constexpr std::uint8_t index = 3, fresh = 4;
  T copies_[3]{};
  std::uint8_t written_ = 0, read_ = 1;
  std::atomic<std::uint8_t> shared_{2};
};

}  // namespace @PACKAGE@

#endif  // @GUARD@__EXCHANGE_HPP_
