/// Three bytes of closed captions as video carries them: what they are for, and two bytes of data (CTA-708-E §4.3).
public struct CaptionTriplet: Sendable, Hashable {
    /// What the data are for.
    public enum Kind: UInt8, Sendable, Hashable {
        /// Line 21 of the first field: channels CC1 and CC2 of CTA-608.
        case firstField = 0
        /// Line 21 of the second field: channels CC3 and CC4 of CTA-608.
        case secondField = 1
        /// A packet of CTA-708 goes on.
        case packetData = 2
        /// A packet of CTA-708 begins.
        case packetStart = 3
    }

    /// What the data are for.
    public let kind: Kind
    /// The first byte; with its parity bit where it is of CTA-608.
    public let first: UInt8
    /// The second byte; with its parity bit where it is of CTA-608.
    public let second: UInt8

    /// Makes a triplet.
    public init(kind: Kind, first: UInt8, second: UInt8) {
        self.kind = kind
        self.first = first
        self.second = second
    }

    /// A frame has at most 31; further ones of a list are not read.
    public static let mostTriplets = 1_024

    /// Reads triplets that stand behind one another, as decoders of video hand them out; those that say they are not valid
    /// are left out.
    public static func list(_ bytes: Span<UInt8>) -> [CaptionTriplet] {
        var cursor = ByteCursor(0..<bytes.count, in: bytes)
        return list(&cursor, count: min(bytes.count / 3, mostTriplets), bytes)
    }

    static func list(_ cursor: inout ByteCursor, count: Int, _ bytes: Span<UInt8>) -> [CaptionTriplet] {
        var list: [CaptionTriplet] = []
        for _ in 0..<count {
            let header = cursor.uint8(bytes)
            let (first, second) = (cursor.uint8(bytes), cursor.uint8(bytes))
            guard !cursor.isPastEnd else { break }
            // Five marker bits, a bit that says whether the data count, two bits for the kind.
            guard header & 0x04 != 0, let kind = Kind(rawValue: header & 0x03) else { continue }
            list.append(CaptionTriplet(kind: kind, first: first, second: second))
        }
        return list
    }
}
