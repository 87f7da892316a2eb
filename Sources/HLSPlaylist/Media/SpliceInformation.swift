public import MediaTiming

/// A splice information section, which announces the start or the end of a break (ANSI/SCTE 35 §9.6).
///
/// Date ranges contain sections in `SCTE35-CMD`, `SCTE35-OUT` and `SCTE35-IN` (RFC 8216bis §4.4.5.1.1); other tags of packagers
/// contain them in base64. The checksum is not verified, because not all packagers write one.
public struct SpliceInformation: Sendable, Hashable {
    /// The commands of a section (§9.6.1).
    public enum Command: Sendable, Hashable {
        /// No command; descriptors may follow.
        case null
        /// The start or the end of a break.
        case insert(Insert)
        /// A point in time, whose meaning segmentation descriptors define.
        case timeSignal
        /// Another command, with its type.
        case other(UInt8)
    }

    /// A command that starts or ends a break: `splice_insert` (§9.7.3).
    public struct Insert: Sendable, Hashable {
        /// The identifier of the event.
        public let eventID: UInt32
        /// A Boolean value that indicates whether an earlier command of this event is canceled.
        public let isCanceled: Bool
        /// A Boolean value that indicates whether a break starts; otherwise, it ends.
        public let isOut: Bool
        /// The duration of the break, or `nil` if it is not announced.
        public let duration: MediaTime?
    }

    /// The start or the end of a part of the program: a segmentation descriptor (§10.3.3).
    public struct Segmentation: Sendable, Hashable {
        /// The identifier of the event.
        public let eventID: UInt32
        /// A Boolean value that indicates whether an earlier descriptor of this event is canceled.
        public let isCanceled: Bool
        /// The type, such as 0x34 for the start of a provider placement opportunity (table 23).
        public let type: UInt8
        /// The duration, or `nil` if it is not announced.
        public let duration: MediaTime?

        /// The types that start a break; the type after each of them ends it.
        private static let starts: Set<UInt8> = [0x22, 0x30, 0x32, 0x34, 0x36, 0x44, 0x46]

        var signal: Signal? {
            if isCanceled { return nil }
            if Self.starts.contains(type) { return .breakStart(duration: duration) }
            return Self.starts.contains(type &- 1) ? .breakEnd : nil
        }
    }

    /// The meaning of a section for a break.
    public enum Signal: Sendable, Hashable {
        /// A break starts; `duration` is `nil` if it is not announced.
        case breakStart(duration: MediaTime?)
        /// A break ends.
        case breakEnd
    }

    /// The command.
    public let command: Command
    /// The segmentation descriptors.
    public let segmentations: [Segmentation]

    /// The meaning of the section for a break, or `nil` if it has none.
    public var signal: Signal? {
        if case .insert(let insert) = command {
            guard !insert.isCanceled else { return nil }
            return insert.isOut ? .breakStart(duration: insert.duration) : .breakEnd
        }
        // An end and the start of the next break can be in one section.
        let signals = segmentations.compactMap(\.signal)
        return signals.first { $0 != .breakEnd } ?? signals.first
    }

    /// Creates the information of a section, or returns `nil` if the bytes are no such section, end early, or are encrypted.
    ///
    /// - Parameter bytes: The section, from its table identifier on.
    public init?(_ bytes: [UInt8]) {
        var reader = BitReader(bytes)
        guard reader.read(8) == 0xFC, reader.skip(4), let length = reader.read(12),
            bytes.count >= Int(clamping: length) +| 3,
            reader.skip(8), reader.read(1) == 0, reader.skip(6 + 33 + 8 + 12), let commandLength = reader.read(12),
            let type = reader.read(8)
        else { return nil }
        let start = reader.position
        switch type {
        case 0x00: command = .null
        case 0x05:
            guard let insert = reader.readInsert() else { return nil }
            command = .insert(insert)
        case 0x06:
            guard reader.skipSpliceTime() else { return nil }
            command = .timeSignal
        default: command = .other(UInt8(truncatingIfNeeded: type))
        }
        // A length of 0xFFF was permitted in earlier editions: the command ends where its fields end.
        if commandLength != 0xFFF {
            guard reader.move(to: start +| Int(clamping: commandLength) *| 8) else { return nil }
        }
        segmentations = reader.readSegmentations() ?? []
    }

    /// Creates the information of a section in base64 or as a hexadecimal sequence that begins with `0x`.
    public init?(text: String) {
        let isHexadecimal = text.hasPrefix("0x") || text.hasPrefix("0X")
        guard let bytes = isHexadecimal ? HexadecimalSequence.octets(text) : Base64.decode(text) else { return nil }
        self.init(bytes)
    }
}

/// A reader of unsigned integers of any number of bits, in network byte order.
private struct BitReader {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private var bitCount: Int { bytes.count *| 8 }

    mutating func read(_ count: Int) -> UInt64? {
        guard count <= bitCount -| position else { return nil }
        var value: UInt64 = 0
        for _ in 0..<count {
            value = value << 1 | UInt64(bytes[position >> 3] >> (7 - position & 7) & 1)
            position += 1
        }
        return value
    }

    mutating func readFlag() -> Bool? { read(1).map { $0 == 1 } }

    mutating func skip(_ count: Int) -> Bool { move(to: position +| count) }

    mutating func move(to target: Int) -> Bool {
        guard target <= bitCount else { return false }
        position = target
        return true
    }

    /// Skips a `splice_time` (ANSI/SCTE 35 §9.8.1).
    mutating func skipSpliceTime() -> Bool {
        guard let isSpecified = readFlag() else { return false }
        return skip(isSpecified ? 6 + 33 : 7)
    }

    mutating func readInsert() -> SpliceInformation.Insert? {
        guard let event = read(32), let isCanceled = readFlag(), skip(7) else { return nil }
        let id = UInt32(truncatingIfNeeded: event)
        guard !isCanceled else {
            return SpliceInformation.Insert(eventID: id, isCanceled: true, isOut: false, duration: nil)
        }
        guard let isOut = readFlag(), let isProgram = readFlag(), let hasDuration = readFlag(),
            let isImmediate = readFlag(), skip(4)
        else { return nil }
        if isProgram {
            guard isImmediate || skipSpliceTime() else { return nil }
        } else {
            guard let count = read(8) else { return nil }
            for _ in 0..<count { guard skip(8), isImmediate || skipSpliceTime() else { return nil } }
        }
        var duration: MediaTime?
        if hasDuration {
            guard skip(7), let ticks = read(33) else { return nil }
            duration = MediaTime(value: Int64(clamping: ticks), timescale: 90_000)
        }
        guard skip(32) else { return nil }
        return SpliceInformation.Insert(eventID: id, isCanceled: false, isOut: isOut, duration: duration)
    }

    mutating func readSegmentations() -> [SpliceInformation.Segmentation]? {
        guard let length = read(16) else { return nil }
        let end = min(position +| Int(clamping: length) *| 8, bitCount)
        var result: [SpliceInformation.Segmentation] = []
        while position < end {
            guard let tag = read(8), let size = read(8) else { return result }
            let next = position +| Int(clamping: size) *| 8
            // The identifier "CUEI" marks the descriptors of the standard (§10.2).
            if tag == 0x02, read(32) == 0x4355_4549, let segmentation = readSegmentation() {
                result.append(segmentation)
            }
            guard move(to: next) else { return result }
        }
        return result
    }

    private mutating func readSegmentation() -> SpliceInformation.Segmentation? {
        guard let event = read(32), let isCanceled = readFlag(), skip(7) else { return nil }
        let id = UInt32(truncatingIfNeeded: event)
        guard !isCanceled else {
            return SpliceInformation.Segmentation(eventID: id, isCanceled: true, type: 0, duration: nil)
        }
        guard let isProgram = readFlag(), let hasDuration = readFlag(), skip(6) else { return nil }
        if !isProgram {
            guard let count = read(8), skip(Int(clamping: count) *| 48) else { return nil }
        }
        var duration: MediaTime?
        if hasDuration {
            guard let ticks = read(40) else { return nil }
            duration = MediaTime(value: Int64(clamping: ticks), timescale: 90_000)
        }
        guard skip(8), let size = read(8), skip(Int(clamping: size) *| 8), let type = read(8) else { return nil }
        return SpliceInformation.Segmentation(
            eventID: id,
            isCanceled: false,
            type: UInt8(truncatingIfNeeded: type),
            duration: duration
        )
    }
}
