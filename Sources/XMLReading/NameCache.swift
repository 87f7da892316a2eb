/// A cache of the names of elements and attributes by the addresses of their parts.
///
/// libxml2 interns each string once per document, so that the addresses identify a name.
struct NameCache {
    /// The addresses of the parts of a name.
    struct Key: Sendable, Equatable {
        let local: UInt
        let prefix: UInt
        let namespace: UInt

        /// The position in the cache; a name replaces another one with the same position.
        var position: Int {
            let mixed = (local ^ prefix &* 31 ^ namespace &* 131) &* 0x9E37_79B9_7F4A_7C15
            // Bounded: eight bits are left.
            return Int(mixed >> 56)
        }
    }

    /// The number of names.
    private static let count = 256

    /// The keys by position; an address is never 0.
    var keys = [Key](repeating: Key(local: 0, prefix: 0, namespace: 0), count: count)
    /// The names by position.
    var names = [XMLName](repeating: XMLName(""), count: count)
}
