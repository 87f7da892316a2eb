/// A key for media whose samples are encrypted individually (RFC 8216bis §4.4.4.4, ISO/IEC 23001-7).
struct SampleKey: Sendable, Hashable {
    /// The key, 16 octets.
    let key: [UInt8]
    /// The initialization vector, 16 octets; `nil` if the media contains it.
    let initializationVector: [UInt8]?

    /// Creates a key; returns `nil` if the key or the vector does not have 16 octets.
    init?(key: [UInt8], initializationVector: [UInt8]? = nil) {
        guard key.count == 16, initializationVector.map({ $0.count == 16 }) ?? true else { return nil }
        self.key = key
        self.initializationVector = initializationVector
    }
}
