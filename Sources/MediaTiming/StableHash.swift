/// A hash that is equal for equal bytes in every process: FNV-1a with 64 bits.
///
/// The hash is not cryptographic: it must not protect secrets, and collisions can be constructed.
package struct StableHash: Sendable, Hashable {
    /// The hash of the bytes that were added.
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Creates the hash of an empty sequence.
    package init() {}

    /// Creates the hash of a sequence of bytes.
    package init(_ bytes: some Sequence<UInt8>) { combine(bytes) }

    /// Creates the hash of the UTF-8 encoding of a string.
    package init(_ text: some StringProtocol) { combine(text.utf8) }

    /// Adds one byte to the hash.
    @inline(__always)
    package mutating func combine(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }

    /// Adds bytes to the hash, in order.
    package mutating func combine(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { combine(byte) }
    }
}
