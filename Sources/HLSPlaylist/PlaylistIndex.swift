import MediaTiming

/// Where everything stands in a playlist's bytes: the one thing a parse builds.
///
/// It holds offsets, not values. A segment costs 16 bytes here, however long its lines are; what a caller asks for is
/// read from the bytes at that moment. `EXTINF` and `EXT-X-BYTERANGE`, which stand at nearly every segment, are not
/// listed: they are found in the segment's own lines.
struct PlaylistIndex: Sendable {
    /// A media segment: its lines begin behind the previous segment's address and end with its own.
    struct SegmentRecord: Sendable {
        var blockStart: UInt32
        var uriStart: UInt32
        /// When it begins, in units of ten to the power of minus ``PlaylistIndex/timeDigits`` seconds.
        var startTicks: Int64
    }

    /// A tag that is not listed with its segment.
    struct TagRecord: Sendable {
        var lineStart: UInt32
        /// The segment that follows it; the number of segments for a tag behind the last.
        var segment: UInt32
        /// `nil` for one that the standard does not know.
        var tag: TagName?
    }

    /// A variant: its tag and the line with its address.
    struct VariantRecord: Sendable {
        var tagStart: UInt32
        var uriStart: UInt32?
    }

    /// The offset of a byte range that does not name it.
    struct ImpliedOffset: Sendable {
        var segment: Int
        var start: Int64
        /// Whether there is nothing that it could follow.
        var isGuessed: Bool
    }

    var segments: [SegmentRecord] = []
    var tags: [TagRecord] = []
    var variants: [VariantRecord] = []
    var impliedOffsets: [ImpliedOffset] = []
    /// How many decimal digits the durations have behind the point, 0 to 9.
    var timeDigits = 0
    /// The end of the last segment, in the same units as ``SegmentRecord/startTicks``.
    var endTicks: Int64 = 0
    /// Where the lines behind the last address begin.
    var trailerStart = 0
    /// Where the text begins, behind a byte-order mark.
    var textStart = 0
    var hasHeader = false
    var kind: Playlist.Kind?

    /// The digits behind the point that start times count: nanoseconds.
    private static let mostTimeDigits = 9

    /// Reads all lines once.
    init(_ bytes: [UInt8], limits: PlaylistLimits) throws(PlaylistParsingError) {
        guard bytes.count <= limits.byteCount else {
            throw .limitExceeded(.byteCount(limits.byteCount), line: 1)
        }
        let span = bytes.span
        if span.hasPrefix("\u{FEFF}", at: 0, before: bytes.count) { textStart = 3 }
        var scanner = LineScanner(textStart..<bytes.count)
        var state = ScanState(blockStart: textStart)
        var lineNumber = 0
        while let line = scanner.next(in: span) {
            lineNumber += 1
            guard line.end - line.start <= limits.lineLength else {
                throw .limitExceeded(.lineLength(limits.lineLength), line: lineNumber)
            }
            read(line, in: bytes, &state)
            guard segments.count + tags.count + variants.count <= limits.entryCount else {
                throw .limitExceeded(.entryCount(limits.entryCount), line: lineNumber)
            }
        }
        if let tagStart = state.pendingVariant {
            variants.append(VariantRecord(tagStart: tagStart, uriStart: nil))
        }
        trailerStart = state.blockStart
    }

    /// What the lines so far mean for the next one.
    private struct ScanState {
        /// Where the lines of the next segment or variant begin.
        var blockStart: Int
        var pendingDuration: DecimalDigits?
        var hasSegmentInformation = false
        var pendingVariant: UInt32?
        var pendingByteRange: Range<Int>?
        /// The address and the end of the previous segment's byte range.
        var previousRange: (uri: Range<Int>, end: Int64)?
    }

    private mutating func read(_ line: Line, in bytes: [UInt8], _ state: inout ScanState) {
        let text = line.trimmed(in: bytes.span)
        guard !text.isEmpty else { return }
        guard bytes[text.lowerBound] == UInt8(ascii: "#") else {
            readAddress(text, line, in: bytes, &state)
            return
        }
        if bytes.hasPrefix("#EXTINF", at: text.lowerBound, before: text.upperBound),
            text.lowerBound + 7 == text.upperBound || bytes[text.lowerBound + 7] == UInt8(ascii: ":")
        {
            kind = kind ?? .media
            state.hasSegmentInformation = true
            state.pendingDuration = SegmentInformation.duration(bytes, in: text.dropFirst(8))
        } else if bytes.hasPrefix("#EXT-X-BYTERANGE:", at: text.lowerBound, before: text.upperBound) {
            kind = kind ?? .media
            state.pendingByteRange = text.dropFirst(17)
        } else if let tagLine = TagLine(line, in: bytes) {
            let tag = tagLine.tag(in: bytes)
            switch tag?.scope {
            case .mediaPlaylist, .segment, .metadata: kind = kind ?? .media
            case .multivariant: kind = kind ?? .multivariant
            case .any, nil: break
            }
            if tag == .header { hasHeader = true }
            if tag == .variant {
                if let tagStart = state.pendingVariant {
                    variants.append(VariantRecord(tagStart: tagStart, uriStart: nil))
                }
                state.pendingVariant = UInt32(line.start)
            }
            tags.append(TagRecord(lineStart: UInt32(line.start), segment: UInt32(segments.count), tag: tag))
        }
    }

    private mutating func readAddress(_ text: Range<Int>, _ line: Line, in bytes: [UInt8], _ state: inout ScanState) {
        if let tagStart = state.pendingVariant {
            variants.append(VariantRecord(tagStart: tagStart, uriStart: UInt32(line.start)))
            state.pendingVariant = nil
            state.blockStart = line.end
        } else if state.hasSegmentInformation {
            append(state.pendingDuration, blockStart: state.blockStart, uriStart: line.start)
            noteByteRange(text, in: bytes, &state)
            state.hasSegmentInformation = false
            state.pendingDuration = nil
            state.blockStart = line.end
        }
        // An address that no tag announces is nothing that a player would load; the diagnostics name it.
    }

    private mutating func append(_ duration: DecimalDigits?, blockStart: Int, uriStart: Int) {
        segments.append(
            SegmentRecord(blockStart: UInt32(blockStart), uriStart: UInt32(uriStart), startTicks: endTicks)
        )
        // A negative or unreadable duration adds nothing to the timeline.
        guard let duration, duration.value > 0 else { return }
        let digits = min(duration.fractionDigits, Self.mostTimeDigits)
        if digits > timeDigits { rescale(to: digits) }
        var ticks = duration.value
        if duration.fractionDigits > digits {
            let divisor = DecimalDigits.power(of: duration.fractionDigits - digits)
            ticks = ticks / divisor + (ticks % divisor >= divisor / 2 ? 1 : 0)
        }
        let (scaled, overflow) = ticks.multipliedReportingOverflow(by: DecimalDigits.power(of: timeDigits - digits))
        let (sum, overflowed) = endTicks.addingReportingOverflow(overflow ? .max : scaled)
        endTicks = overflowed ? .max : sum
    }

    /// Counts in finer units once a duration with more digits is met: at most nine times a playlist.
    private mutating func rescale(to digits: Int) {
        let factor = DecimalDigits.power(of: digits - timeDigits)
        func scaled(_ ticks: Int64) -> Int64 {
            let (product, overflow) = ticks.multipliedReportingOverflow(by: factor)
            return overflow ? .max : product
        }
        for index in segments.indices { segments[index].startTicks = scaled(segments[index].startTicks) }
        endTicks = scaled(endTicks)
        timeDigits = digits
    }

    private mutating func noteByteRange(_ uri: Range<Int>, in bytes: [UInt8], _ state: inout ScanState) {
        guard let range = state.pendingByteRange, let written = WrittenByteRange(bytes, in: range) else {
            state.pendingByteRange = nil
            state.previousRange = nil
            return
        }
        state.pendingByteRange = nil
        var start = written.start
        if start == nil {
            // §4.4.4.2: it begins behind the previous segment's range of the same resource.
            // Where there is none, a lenient player begins with the resource.
            let previous = state.previousRange.flatMap { bytes[$0.uri] == bytes[uri] ? $0.end : nil }
            start = previous ?? 0
            impliedOffsets.append(
                ImpliedOffset(segment: segments.count - 1, start: previous ?? 0, isGuessed: previous == nil)
            )
        }
        let end = start.flatMap { ByteRange(start: $0, length: written.length)?.end }
        state.previousRange = end.map { (uri, $0) }
    }
}

/// The numbers of an `EXT-X-BYTERANGE` tag or a `BYTERANGE` attribute: `length[@start]`.
struct WrittenByteRange {
    let length: Int64
    let start: Int64?

    init?(_ text: String) {
        let bytes = Array(text.utf8)
        self.init(bytes, in: 0..<bytes.count)
    }

    init?(_ bytes: [UInt8], in range: Range<Int>) {
        let span = bytes.span
        var index = range.lowerBound
        guard let length = Self.number(span, &index, before: range.upperBound) else { return nil }
        self.length = length
        guard index < range.upperBound else {
            start = nil
            return
        }
        guard span[index] == UInt8(ascii: "@") else { return nil }
        index += 1
        guard let start = Self.number(span, &index, before: range.upperBound), index == range.upperBound else {
            return nil
        }
        self.start = start
    }

    /// A decimal integer with blanks at either side; `nil` where there is none or it does not fit in 63 bits.
    private static func number(_ bytes: Span<UInt8>, _ index: inout Int, before end: Int) -> Int64? {
        while index < end, bytes[index].isBlank { index += 1 }
        let first = index
        var number: Int64 = 0
        while index < end, bytes[index] >= UInt8(ascii: "0"), bytes[index] <= UInt8(ascii: "9") {
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowed) = product.addingReportingOverflow(Int64(bytes[index] - UInt8(ascii: "0")))
            guard !overflow, !overflowed else { return nil }
            number = sum
            index += 1
        }
        guard index > first else { return nil }
        while index < end, bytes[index].isBlank { index += 1 }
        return number
    }
}

/// What stands behind `#EXTINF:`: a duration, a comma and a title.
enum SegmentInformation {
    /// The digits up to the comma; `nil` where they are no decimal number.
    static func duration(_ bytes: [UInt8], in range: Range<Int>) -> DecimalDigits? {
        var end = range.lowerBound
        while end < range.upperBound, bytes[end] != UInt8(ascii: ",") { end += 1 }
        var (low, high) = (range.lowerBound, end)
        while low < high, bytes[low].isBlank { low += 1 }
        while high > low, bytes[high - 1].isBlank { high -= 1 }
        return DecimalDigits(bytes.span.extracting(low..<high))
    }

    /// What stands behind the comma, `nil` where that is nothing.
    static func title(_ bytes: [UInt8], in range: Range<Int>) -> String? {
        guard let comma = bytes[range].firstIndex(of: UInt8(ascii: ",")), comma + 1 < range.upperBound else {
            return nil
        }
        return bytes.text((comma + 1)..<range.upperBound)
    }
}

extension Range<Int> {
    /// The range without its first `count` elements, empty where it has fewer.
    func dropFirst(_ count: Int) -> Range<Int> { Swift.min(lowerBound + count, upperBound)..<upperBound }
}
