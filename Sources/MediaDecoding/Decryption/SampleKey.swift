/// What opens samples that are encrypted one by one (RFC 8216bis §4.4.4.4, ISO/IEC 23001-7).
struct SampleKey: Sendable, Hashable {
    /// The key: 16 octets.
    let key: [UInt8]
    /// The initialization vector: 16 octets; `nil` where the media holds it.
    let initializationVector: [UInt8]?

    /// Makes a key; `nil` where it or the vector has not 16 octets.
    init?(key: [UInt8], initializationVector: [UInt8]? = nil) {
        guard key.count == 16, initializationVector.map({ $0.count == 16 }) ?? true else { return nil }
        self.key = key
        self.initializationVector = initializationVector
    }
}
