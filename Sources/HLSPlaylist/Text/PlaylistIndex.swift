import MediaTiming

/// The locations of all tags, segments and variants in the bytes of a playlist, which is the result of parsing.
///
/// The index contains offsets instead of values. A segment takes 16 bytes, however long its lines are; values are
/// parsed from the bytes when they are read. `EXTINF` and `EXT-X-BYTERANGE`, which almost every segment has, are not
/// listed: they are found in the lines of the segment.
struct PlaylistIndex: Sendable {
    /// A media segment, whose lines begin after the URI of the previous segment and end with its own URI.
    struct SegmentRecord: Sendable {
        var blockStart: UInt32
        var uriStart: UInt32
        /// The start time, in units of 10^−*n* seconds, where *n* is ``PlaylistIndex/timeDigits``.
        var startTicks: Int64

        /// The range of the lines before the URI.
        var tags: Range<Int> { Int(blockStart)..<Int(uriStart) }
    }

    /// A tag other than `EXTINF` and `EXT-X-BYTERANGE`.
    struct TagRecord: Sendable {
        var lineStart: UInt32
        /// The position of the segment that follows the tag, or the number of segments for a tag after the last
        /// segment.
        var segment: UInt32
        /// The name of the tag, or `nil` if the standard does not define it.
        var tag: TagName?
    }

    /// A variant, with the offsets of its tag and of its URI line.
    struct VariantRecord: Sendable {
        var tagStart: UInt32
        var uriStart: UInt32?
    }

    /// The implied offset of a byte range without an offset; the offsets of following segments are computed from it.
    struct ImpliedOffset: Sendable {
        var segment: UInt32
        /// A Boolean value that indicates whether there is no previous range of the same resource, so that 0 is
        /// assumed.
        var isAssumed: Bool
        var start: Int64
    }

    var segments: [SegmentRecord] = []
    var tags: [TagRecord] = []
    var variants: [VariantRecord] = []
    var impliedOffsets: [ImpliedOffset] = []
    /// The number of decimal places of the start times, 0 to 9.
    var timeDigits = 0
    /// A Boolean value that indicates whether a duration has more decimal places than start times can have.
    var hasRoundedTimes = false
    /// A Boolean value that indicates whether the start times are the exact sums of the durations.
    var hasExactTimes: Bool { !hasRoundedTimes && endTicks < .max }
    /// A Boolean value that indicates whether the playlist may contain carriage returns.
    var mayContainCarriageReturns = false
    /// The end of the last segment, in the same units as ``SegmentRecord/startTicks``.
    var endTicks: Int64 = 0
    /// The offset of the lines after the last segment's URI.
    var trailerStart = 0
    /// The offset of the first line, after a byte-order mark.
    var textStart = 0
    var hasHeader = false
    var kind: Playlist.Kind?
    /// A Boolean value that indicates whether the index ends early, because the task that waits for it was canceled.
    private(set) var wasCanceled = false

    /// The maximum number of decimal places of start times: nanoseconds.
    private static let maximumTimeDigits = 9

    /// The number of lines after which the cancellation is checked: a few milliseconds at most.
    private static let checkedLineCount = 4_096

    /// Creates the index in one pass over all lines.
    ///
    /// - Parameters:
    ///   - bytes: The playlist.
    ///   - limits: The maximum sizes of the playlist and its parts.
    ///   - isCancelable: Whether to end early, with ``wasCanceled``, when the task that waits for the index is canceled.
    /// - Throws: ``PlaylistParsingError/limitExceeded(_:line:)``.
    init(_ bytes: [UInt8], limits: PlaylistLimits, isCancelable: Bool = false) throws(PlaylistParsingError) {
        guard bytes.count <= limits.byteCount else {
            throw .limitExceeded(.byteCount(limits.byteCount), line: 1)
        }
        let span = bytes.span
        if span.hasPrefix("\u{FEFF}", at: 0, before: bytes.count) { textStart = 3 }
        var state = ScanState(blockStart: textStart)
        _ = try scan(bytes, from: textStart, limits, &state, isCancelable: isCancelable)
        finish(state)
    }

    mutating func finish(_ state: ScanState) {
        if let tagStart = state.pendingVariant {
            variants.append(VariantRecord(tagStart: tagStart, uriStart: nil))
        }
        trailerStart = state.blockStart
    }

    /// The state of the scanner between two lines.
    struct ScanState {
        /// The offset of the first line of the next segment.
        var blockStart: Int
        var pendingDuration = DecimalDigits(value: -1, fractionDigits: 0)
        var hasSegmentInformation = false
        var pendingVariant: UInt32?
        /// A Boolean value that indicates whether the variant tag came after the `EXTINF` tag.
        var isVariantLast = false
        var pendingByteRange: Range<Int>?
        fileprivate var previousRange = PreviousRange.none
        /// The number of consecutive implied offsets since the last recorded one.
        var chainLength = 0

        init(blockStart: Int) { self.blockStart = blockStart }

        /// Resets the state to that after a segment whose record was reused.
        mutating func resume(after segment: SegmentRecord, at position: Int, in bytes: [UInt8]) {
            self = ScanState(blockStart: position)
            let written = SegmentLines.byteRange(segment, mayContainCarriageReturns: true, in: bytes)
            guard let text = written else { return }
            previousRange = .written(uri: SegmentLines.uri(segment, endingAt: position, in: bytes), text: text)
        }
    }

    /// The previous byte range, which a range without an offset follows; its end is computed only if it is needed.
    fileprivate enum PreviousRange {
        case none
        case written(uri: Range<Int>, text: Range<Int>)
        case implied(uri: Range<Int>, end: Int64)
    }

    /// Scans lines from an offset.
    ///
    /// - Parameters:
    ///   - bytes: The entire playlist.
    ///   - start: The offset of a line.
    ///   - limits: The maximum sizes of the playlist and its parts.
    ///   - state: The state after the previous line.
    ///   - stoppingAtSegment: Whether to stop after the first segment.
    ///   - isCancelable: Whether to stop, and to set ``wasCanceled``, when the task that waits is canceled.
    /// - Returns: The offset of the first line that was not scanned.
    /// - Throws: ``PlaylistParsingError/limitExceeded(_:line:)``, with lines counted from `start`.
    mutating func scan(
        _ bytes: [UInt8],
        from start: Int,
        _ limits: PlaylistLimits,
        _ state: inout ScanState,
        stoppingAtSegment: Bool = false,
        isCancelable: Bool = false
    ) throws(PlaylistParsingError) -> Int {
        let span = bytes.span
        let end = bytes.count
        let hasCarriageReturns = span.firstIndex(of: UInt8(ascii: "\r"), in: start..<end) != nil
        mayContainCarriageReturns = mayContainCarriageReturns || hasCarriageReturns
        var scanner = LineScanner(start..<end, mayContainCarriageReturns: hasCarriageReturns)
        var lineNumber = 0
        var nextCheck = isCancelable ? Self.checkedLineCount : .max
        while let line = scanner.next(in: span) {
            lineNumber += 1
            if lineNumber == nextCheck {
                nextCheck +|= Self.checkedLineCount
                wasCanceled = CancelableWork.isCanceled
                if wasCanceled { break }
            }
            guard line.end - line.start <= limits.lineLength else {
                throw .limitExceeded(.lineLength(limits.lineLength), line: lineNumber)
            }
            let text = line.trimmed(in: span)
            guard !text.isEmpty else { continue }
            if span[text.lowerBound] == UInt8(ascii: "#") {
                if readFrequentTag(text, in: bytes, &state) { continue }
                readOtherTag(text, line, in: bytes, &state)
            } else {
                readURILine(text, line, in: bytes, &state)
            }
            guard segments.count + tags.count + variants.count <= limits.entryCount else {
                throw .limitExceeded(.entryCount(limits.entryCount), line: lineNumber)
            }
            // Doubling the array could take twice the memory; the total is estimated from the segments scanned so far.
            if segments.count == 256, segments.capacity < 1024 {
                let expected = Double(end) / Double(line.end) * 256 * 1.02
                segments.reserveCapacity(min(Int(saturating: expected) +| 16, limits.entryCount))
            }
            if stoppingAtSegment, !segments.isEmpty { break }
        }
        return scanner.position
    }

    /// Reads an `EXTINF` or `EXT-X-BYTERANGE` tag, which adds no entry to the index.
    ///
    /// - Returns: A Boolean value that indicates whether the line is such a tag.
    @inline(__always)
    private mutating func readFrequentTag(_ text: Range<Int>, in bytes: [UInt8], _ state: inout ScanState) -> Bool {
        let span = bytes.span
        guard text.count >= 8 else { return false }
        if span.word(at: text.lowerBound) == TagBytes.segmentInformation {
            kind = kind ?? .media
            state.hasSegmentInformation = true
            state.isVariantLast = false
            state.pendingDuration = SegmentInformation.digits(span, in: (text.lowerBound + 8)..<text.upperBound)
            return true
        }
        if TagBytes.isByteRange(span, in: text) {
            kind = kind ?? .media
            state.pendingByteRange = (text.lowerBound + 17)..<text.upperBound
            return true
        }
        return false
    }

    private mutating func readOtherTag(_ text: Range<Int>, _ line: Line, in bytes: [UInt8], _ state: inout ScanState) {
        let span = bytes.span
        guard let name = TagLine.name(in: text, span) else { return }
        let tag = TagName(span, in: name)
        if tag == .segmentInformation {
            // The tag has no colon and so no duration, but a URI may follow.
            kind = kind ?? .media
            state.hasSegmentInformation = true
            state.isVariantLast = false
            state.pendingDuration = DecimalDigits(value: -1, fractionDigits: 0)
            return
        }
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
            // Bounded: a playlist has fewer bytes than 2^32 (PlaylistLimits).
            state.pendingVariant = UInt32(line.start)
            state.isVariantLast = true
        }
        // Bounded: a playlist has fewer bytes than 2^32 (PlaylistLimits).
        tags.append(TagRecord(lineStart: UInt32(line.start), segment: UInt32(segments.count), tag: tag))
    }

    @inline(__always)
    private mutating func readURILine(_ text: Range<Int>, _ line: Line, in bytes: [UInt8], _ state: inout ScanState) {
        // A URI belongs to the last tag that requires one; in a multivariant playlist, to a variant if there is one.
        if state.hasSegmentInformation, state.pendingVariant == nil || !state.isVariantLast && kind == .media {
            append(state.pendingDuration, blockStart: state.blockStart, uriStart: line.start)
            recordByteRange(text, in: bytes, &state)
            state.hasSegmentInformation = false
            state.pendingVariant = nil
            state.blockStart = line.end
        } else if let tagStart = state.pendingVariant {
            // The next segment's lines still begin before the variant, because tags before it may belong to the
            // segment.
            // Bounded: a playlist has fewer bytes than 2^32 (PlaylistLimits).
            variants.append(VariantRecord(tagStart: tagStart, uriStart: UInt32(line.start)))
            state.pendingVariant = nil
        }
        // Players do not load a URI without a tag; the diagnostics report it.
    }

    @inline(__always)
    private mutating func append(_ duration: DecimalDigits, blockStart: Int, uriStart: Int) {
        segments.append(
            // Bounded: a playlist has fewer bytes than 2^32 (PlaylistLimits).
            SegmentRecord(blockStart: UInt32(blockStart), uriStart: UInt32(uriStart), startTicks: endTicks)
        )
        // A negative or invalid duration adds nothing to the timeline.
        guard duration.value > 0 else { return }
        if duration.fractionDigits == timeDigits {
            let (sum, overflowed) = endTicks.addingReportingOverflow(duration.value)
            endTicks = overflowed ? .max : sum
        } else {
            extend(by: duration)
        }
    }

    private mutating func extend(by duration: DecimalDigits) {
        let digits = min(duration.fractionDigits, Self.maximumTimeDigits)
        if digits > timeDigits { rescale(to: digits) }
        var ticks = duration.value
        if duration.fractionDigits > digits {
            hasRoundedTimes = true
            let divisor = DecimalDigits.power(of: duration.fractionDigits - digits)
            // Bounded: the divisor is a power of ten, and the quotient leaves room for one more.
            ticks = ticks / divisor + (ticks % divisor >= divisor / 2 ? 1 : 0)
        }
        let (scaled, overflow) = ticks.multipliedReportingOverflow(by: DecimalDigits.power(of: timeDigits - digits))
        let (sum, overflowed) = endTicks.addingReportingOverflow(overflow ? .max : scaled)
        endTicks = overflowed ? .max : sum
    }

    /// Converts all times to finer units for a duration with more digits, which happens at most nine times per
    /// playlist.
    mutating func rescale(to digits: Int) {
        let factor = DecimalDigits.power(of: digits - timeDigits)
        func scaled(_ ticks: Int64) -> Int64 {
            let (product, overflow) = ticks.multipliedReportingOverflow(by: factor)
            return overflow ? .max : product
        }
        for index in segments.indices { segments[index].startTicks = scaled(segments[index].startTicks) }
        endTicks = scaled(endTicks)
        timeDigits = digits
    }

    @inline(__always)
    private mutating func recordByteRange(_ uri: Range<Int>, in bytes: [UInt8], _ state: inout ScanState) {
        guard let range = state.pendingByteRange else {
            state.previousRange = .none
            return
        }
        state.pendingByteRange = nil
        if bytes.span.contains(UInt8(ascii: "@"), in: range) {
            state.previousRange = .written(uri: uri, text: range)
            state.chainLength = 0
        } else {
            recordImpliedOffset(uri, range, in: bytes, &state)
        }
    }

    /// Records the implied offset of a byte range, which follows the previous segment's range of the same resource
    /// (§4.4.4.2).
    private mutating func recordImpliedOffset(
        _ uri: Range<Int>,
        _ range: Range<Int>,
        in bytes: [UInt8],
        _ state: inout ScanState
    ) {
        guard let written = WrittenByteRange(bytes, in: range) else {
            state.previousRange = .none
            return
        }
        let previous: Int64? =
            switch state.previousRange {
            case .none: nil
            case .written(let address, let text):
                bytes[address] == bytes[uri] ? WrittenByteRange(bytes, in: text)?.range?.end : nil
            case .implied(let address, let end): bytes[address] == bytes[uri] ? end : nil
            }
        // If there is no such range, lenient players start at the beginning of the resource.
        let start = previous ?? 0
        if previous == nil || state.chainLength % Self.recordedOffsetInterval == 0 {
            impliedOffsets.append(
                // Bounded: a playlist has fewer bytes than 2^32 (PlaylistLimits).
                ImpliedOffset(segment: UInt32(segments.count - 1), isAssumed: previous == nil, start: start)
            )
            state.chainLength = 0
        }
        state.chainLength += 1
        state.previousRange =
            ByteRange(start: start, length: written.length).map { .implied(uri: uri, end: $0.end) } ?? .none
    }

    /// The interval at which consecutive implied offsets are recorded; those between are computed from the last one.
    private static let recordedOffsetInterval = 16
}

/// The tags that almost every segment has, for comparison of eight bytes at a time.
enum TagBytes {
    /// The bytes of `#EXTINF:`.
    static var segmentInformation: UInt64 { 0x3A46_4E49_5458_4523 }
    /// The bytes of `#EXT-X-BYTERANGE`.
    private static var byteRange: (UInt64, UInt64) { (0x422D_582D_5458_4523, 0x4547_4E41_5245_5459) }

    /// Returns a Boolean value that indicates whether a line is an `EXTINF` tag, with or without a value.
    @inline(__always)
    static func isSegmentInformation(_ bytes: Span<UInt8>, in text: Range<Int>) -> Bool {
        guard text.count >= 8 else { return bytes.matches("#EXTINF", in: text) }
        return bytes.word(at: text.lowerBound) == segmentInformation
    }

    /// Returns a Boolean value that indicates whether a line begins with `#EXT-X-BYTERANGE:`.
    @inline(__always)
    static func isByteRange(_ bytes: Span<UInt8>, in text: Range<Int>) -> Bool {
        text.count > 16 && bytes.word(at: text.lowerBound) == byteRange.0
            && bytes.word(at: text.lowerBound + 8) == byteRange.1 && bytes[text.lowerBound + 16] == UInt8(ascii: ":")
    }
}

extension Range<Int> {
    /// Returns the range without its first `count` elements; the result is empty if it has fewer.
    func dropFirst(_ count: Int) -> Range<Int> { Swift.min(lowerBound + count, upperBound)..<upperBound }
}
