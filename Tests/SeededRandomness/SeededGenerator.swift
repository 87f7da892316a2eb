/// A random number generator that returns the same sequence for the same seed (SplitMix64), so that failures can be
/// reproduced.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator whose sequence depends on the seed only.
    public init(seed: UInt64) { state = seed }

    /// Returns the next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 up to, but not including, 1.
    public mutating func unit() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }

    /// Returns a random element of a list that is not empty.
    public mutating func pick<Element>(_ list: [Element]) -> Element { list[Int(next() % UInt64(list.count))] }
}
