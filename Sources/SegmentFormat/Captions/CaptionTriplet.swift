/// Three bytes of closed captions in a video stream: a caption type and two data bytes (CTA-708-E §4.3).
package struct CaptionTriplet: Sendable, Hashable {
    /// The type of caption data.
    package enum Kind: UInt8, Sendable, Hashable {
        /// CTA-608 data of line 21 in the first field: channels CC1 and CC2.
        case firstField = 0
        /// CTA-608 data of line 21 in the second field: channels CC3 and CC4.
        case secondField = 1
        /// The continuation of a CTA-708 packet.
        case packetData = 2
        /// The start of a CTA-708 packet.
        case packetStart = 3
    }

    /// The type of the data.
    package let kind: Kind
    /// The first data byte; includes the parity bit for CTA-608.
    package let first: UInt8
    /// The second data byte; includes the parity bit for CTA-608.
    package let second: UInt8

    /// Creates a triplet with the given type and data bytes.
    package init(kind: Kind, first: UInt8, second: UInt8) {
        self.kind = kind
        self.first = first
        self.second = second
    }

    /// The maximum number of triplets that are read from a list; a frame has at most 31.
    package static let maximumCount = 1_024

    /// Returns the valid triplets of consecutive bytes in the form in which video decoders output them.
    ///
    /// Triplets that are marked as invalid are omitted.
    package static func triplets(in bytes: Span<UInt8>) -> [CaptionTriplet] {
        var cursor = ByteCursor(0..<bytes.count, in: bytes)
        return triplets(&cursor, count: min(bytes.count / 3, maximumCount), bytes)
    }

    static func triplets(_ cursor: inout ByteCursor, count: Int, _ bytes: Span<UInt8>) -> [CaptionTriplet] {
        var list: [CaptionTriplet] = []
        for _ in 0..<count {
            let header = cursor.readUInt8(bytes)
            let (first, second) = (cursor.readUInt8(bytes), cursor.readUInt8(bytes))
            guard !cursor.isPastEnd else { break }
            // The header byte has five marker bits, the validity bit and two type bits.
            guard header & 0x04 != 0, let kind = Kind(rawValue: header & 0x03) else { continue }
            list.append(CaptionTriplet(kind: kind, first: first, second: second))
        }
        return list
    }
}
