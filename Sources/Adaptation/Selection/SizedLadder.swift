package import MediaTiming
import ResourceAddressing

/// The bit rates and segment sizes of all variants of a stream, in the JSON format of bit rate adaptation simulators.
///
/// `{"segment_duration_ms": 3000, "bitrates_kbps": [230, …], "segment_sizes_bits": [[886360, …], …]}`
package struct SizedLadder: Sendable, Hashable {
    /// The bit rates in ascending order.
    package let bitRates: [BitRate]
    /// The duration of each segment.
    package let segmentDuration: Duration
    /// The sizes by segment, then by variant.
    package let sizes: [[ByteCount]]

    private static let maximumVariantCount = 64
    private static let maximumSegmentCount = 200_000
}

/// The reason why a description of a ladder cannot be used.
package struct SizedLadderError: MillstreamError, Hashable {
    /// The kind of the error.
    package enum Code: String, ErrorCode {
        /// The description of the ladder is invalid.
        case invalid = "bad-ladder"
    }

    /// The kind of the error.
    package var code: Code { .invalid }
    /// The description of the error.
    package var message: String { description }
    /// The violated condition.
    package let description: String
}

extension SizedLadder: Decodable {
    private enum Key: String, CodingKey {
        case duration = "segment_duration_ms"
        case bitRates = "bitrates_kbps"
        case sizes = "segment_sizes_bits"
    }

    /// Creates a ladder from its coded form.
    ///
    /// - Throws: ``SizedLadderError`` for values out of range, and the errors of the decoder.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let duration = try container.decode(Double.self, forKey: .duration)
        let rates = try container.decode([Double].self, forKey: .bitRates)
        let rows = try container.decode([[Double]].self, forKey: .sizes)
        func refuse(_ reason: String) -> SizedLadderError { SizedLadderError(description: reason) }
        guard (1...Self.maximumVariantCount).contains(rates.count), (1...Self.maximumSegmentCount).contains(rows.count)
        else {
            throw refuse(
                "1 to \(Self.maximumVariantCount) variants and 1 to \(Self.maximumSegmentCount) segments are required"
            )
        }
        guard rates == rates.sorted(), rates.allSatisfy({ (0.001...100_000_000).contains($0) }) else {
            throw refuse("the bit rates must be in ascending order, from 0.001 to 100,000,000 kbit/s")
        }
        guard (1...3_600_000).contains(duration) else {
            throw refuse("the duration of a segment must be 1 to 3,600,000 ms")
        }
        guard rows.allSatisfy({ $0.count == rates.count && $0.allSatisfy { (1...2e9).contains($0) } }) else {
            throw refuse("each segment must have a size for each variant, from 1 to 2,000,000,000 bits")
        }
        bitRates = rates.map { BitRate(bitsPerSecond: Int64(saturating: ($0 * 1_000).rounded())) }
        segmentDuration = .microseconds(Int64(saturating: (duration * 1_000).rounded()))
        sizes = rows.map { row in row.map { ByteCount(Int64(saturating: ($0 / 8).rounded(.up))) } }
    }
}
