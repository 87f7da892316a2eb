/// A random number generator (64-bit xorshift) that returns the same sequence for the same seed, so that failures are
/// reproducible.
///
/// The limits that these tests assert for simulated sessions were measured with its sequences; that is why they do not
/// use the generator of the other tests.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
