import MediaTiming
import ResourceAddressing

/// A key, prepared for validation; its attributes are parsed once, because it may apply to many segments and maps.
struct InspectedKey {
    let line: InspectedLine
    let method: String
    /// The key format; `identity` by default.
    let format: String
    /// A Boolean value that indicates whether the key is AES-128 without an initialization vector.
    let lacksInitializationVector: Bool
}

/// A segment, prepared for validation.
struct InspectedSegment {
    let line: InspectedLine
    /// The positions in ``PlaylistInspection/lines`` of the lines after the URI of the previous segment.
    let tags: Range<Int>
    /// The duration, or `nil` if it is missing or invalid.
    let duration: MediaTime?
    /// The date of the segment's first date tag, in seconds since 1970-01-01T00:00:00Z, or `nil` if there is none or it
    /// is invalid.
    let date: MediaTime?
    /// The position in ``PlaylistInspection/keySets`` of the keys in force for the segment.
    let keySet: Int
    /// A Boolean value that indicates whether a map applies to the segment.
    let hasMap: Bool
    let hasDate: Bool
    let hasDiscontinuity: Bool
    let isGap: Bool
}

/// The rules for segments and the tags that apply to them (RFC 8216bis §4.4.4).
extension PlaylistInspection {
    /// Returns the tags of one kind that belong to a segment, or to the end of the playlist.
    func all(_ tag: TagName, in tags: Range<Int>) -> [InspectedLine] { lines[tags].filter { $0.tag == tag } }

    /// Returns the first tag of one kind that belongs to a segment.
    func first(_ tag: TagName, of segment: InspectedSegment) -> InspectedLine? {
        lines[segment.tags].first { $0.tag == tag }
    }

    /// Returns the duration in an `EXTINF` tag, or `nil` if it is invalid.
    func duration(_ line: InspectedLine) -> MediaTime? {
        let bytes = bytes
        let span = bytes.span
        var range = line.value
        if let digits = SegmentInformation.frequentDigits(span, in: range) { return MediaTime(digits) }
        if let comma = span.firstIndex(of: UInt8(ascii: ","), in: range) { range = range.lowerBound..<comma }
        while range.upperBound > range.lowerBound, span[range.upperBound - 1] == UInt8(ascii: " ") {
            range = range.lowerBound..<(range.upperBound - 1)
        }
        guard Grammar.isDecimal(span, in: range) else { return nil }
        return DecimalDigits(span.extracting(range)).map { MediaTime($0) }
    }

    /// Reads the segments, and checks their tags and the order of the tags.
    func inspectSegments() {
        let lines = lines
        var collector = SegmentCollector(self)
        for position in lines.indices { collector.read(lines[position], at: position) }
        if let open = collector.information { note(.extinfWithoutAddress, open) }
        segments = collector.segments
        keySets = collector.keySets
        trailingParts = all(.part, in: collector.tagsStart..<lines.count)
        inspectKeysAndMaps()
        inspectDates()
    }

    private func inspectKeysAndMaps() {
        var checkedKeys = 0
        // The map of the segments after those that a delta update skips may be among the skipped tags.
        let mayHaveSkippedMap = has(.skip)
        for segment in segments {
            // The keys of consecutive segments are usually the same and are checked once.
            if segment.keySet != checkedKeys {
                checkedKeys = segment.keySet
                let keys = keySets[checkedKeys]
                if Set(keys.map(\.method)).count > 1, let last = keys.last { note(.keyMethodsDiffer, last.line) }
            }
            guard !segment.hasMap, !mayHaveSkippedMap, !segment.isGap, let address = address(segment.line) else {
                continue
            }
            let path = ResourceAddress(address).path.lowercased()
            if [".m4s", ".cmfv", ".cmfa", ".cmft"].contains(where: path.hasSuffix) {
                note(.fmp4WithoutMap, segment.line)
            }
        }
    }

    private func inspectDates() {
        let isDated = has(.programDateTime)
        var end: MediaTimeSum?
        for segment in segments {
            if isDated, !segment.hasDate, segment.hasDiscontinuity { note(.discontinuityWithoutDate, segment.line) }
            if let date = segment.date {
                if let end, date <= end.time - MediaTime(seconds: 1) {
                    note(.dateTimeOverlap, first(.programDateTime, of: segment))
                }
                end = MediaTimeSum(date)
            }
            if let duration = segment.duration { end? += duration }
        }
    }

    /// Checks a date.
    ///
    /// - Returns: The seconds since 1970-01-01T00:00:00Z, or `nil` if the text is not a date.
    @discardableResult
    func inspectDate(
        _ text: Span<UInt8>,
        _ line: InspectedLine,
        bad: Rule,
        zone: Rule,
        milliseconds: Rule
    ) -> MediaTime? {
        guard let date = InspectedDate(text) else {
            note(bad, line)
            return nil
        }
        if !date.hasZone { note(zone, line) }
        if !date.hasMilliseconds { note(milliseconds, line) }
        return date.sinceEpoch
    }
}

/// A collector of the segments in the lines of a media playlist.
private struct SegmentCollector {
    private let inspection: PlaylistInspection
    private let bytes: [UInt8]
    private let target: Int64?
    /// The duration from which on a segment exceeds the target duration.
    private let limit: MediaTime?
    private(set) var segments: [InspectedSegment] = []
    /// The sets of keys that apply to segments; the first is empty.
    private(set) var keySets: [[InspectedKey]] = [[]]
    /// The position of the first line after the URI of the last segment.
    private(set) var tagsStart = 0
    private(set) var information: InspectedLine?
    /// The duration in ``information``, or `nil` if it is missing or invalid.
    private var duration: MediaTime?
    /// The first byte range of the segment.
    private var byteRange: InspectedLine?
    /// The time in the first date tag of the segment, or `nil` if there is none or it is invalid.
    private var date: MediaTime?
    private var hasDate = false
    private var hasPart = false
    private var isGap = false
    private var isDiscontinuous = false
    /// The keys in force.
    private var keys: [InspectedKey] = []
    /// The position of ``keys`` in ``keySets``, or `nil` if no segment has used them yet.
    private var keySet: Int? = 0
    private var hasMap = false
    /// A Boolean value that indicates whether any segment is discontinuous.
    private var hasDiscontinuity = false
    private var previousRange = PreviousRange.none

    private enum PreviousRange {
        case none
        /// The previous segment is skipped by a delta update, so its range is unknown.
        case skipped
        case of(address: Range<Int>)
    }

    init(_ inspection: PlaylistInspection) {
        self.inspection = inspection
        bytes = inspection.bytes
        target = inspection.integer(.targetDuration)
        limit = target.map { MediaTime(value: $0, timescale: 1) + MediaTime(value: 1, timescale: 2) }
        segments.reserveCapacity(inspection.expectedSegmentCount)
    }

    mutating func read(_ line: InspectedLine, at position: Int) {
        guard let tag = line.tag else { return finishSegment(line, at: position) }
        if hasPart, [.discontinuity, .key, .map, .programDateTime].contains(tag) {
            inspection.note(.tagAfterPart, line)
        }
        if tag == .segmentInformation {
            readInformation(line)
        } else if tag == .byteRange {
            byteRange = byteRange ?? line
        } else if tag == .key {
            readKey(line)
        } else if tag == .map {
            hasMap = true
            if keys.contains(where: \.lacksInitializationVector) { inspection.note(.mapKeyWithoutIV, line) }
        } else if tag == .programDateTime {
            readDate(line)
        } else if tag == .part {
            hasPart = true
        } else if tag == .discontinuity {
            (isDiscontinuous, hasDiscontinuity) = (true, true)
        } else if tag == .gap {
            isGap = true
        } else {
            readPlaylistWide(line)
        }
    }

    private mutating func finishSegment(_ line: InspectedLine, at position: Int) {
        if information == nil { inspection.note(.addressWithoutExtinf, line) }
        if let byteRange { inspectByteRange(byteRange, line.text) }
        previousRange = byteRange == nil ? .none : .of(address: line.text)
        segments.append(
            InspectedSegment(
                line: line,
                tags: tagsStart..<position,
                duration: duration,
                date: date,
                keySet: usedKeySet(),
                hasMap: hasMap,
                hasDate: hasDate,
                hasDiscontinuity: isDiscontinuous,
                isGap: isGap
            )
        )
        tagsStart = position + 1
        (information, duration, byteRange, date) = (nil, nil, nil, nil)
        (hasDate, hasPart, isGap, isDiscontinuous) = (false, false, false, false)
    }

    /// Returns the position of the keys in force, which are stored if no segment has used them yet.
    private mutating func usedKeySet() -> Int {
        if let keySet { return keySet }
        let position = keySets.count
        keySets.append(keys)
        keySet = position
        return position
    }

    private func inspectByteRange(_ line: InspectedLine, _ address: Range<Int>) {
        guard !line.isMalformed else { return }
        let span = bytes.span
        guard Grammar.isByteRange(span, in: line.value) else { return inspection.note(.badByteRange, line) }
        if WrittenByteRange.exceedsLimit(bytes, in: line.value) {
            inspection.note(.integerAboveLimit, line, "(EXT-X-BYTERANGE)")
        }
        guard !span.contains(UInt8(ascii: "@"), in: line.value) else { return }
        switch previousRange {
        case .skipped: break
        case .of(let previous) where bytes[previous] == bytes[address]: break
        case .none, .of: inspection.note(.byteRangeWithoutOffset, line)
        }
    }

    private mutating func readDate(_ line: InspectedLine) {
        defer { hasDate = true }
        guard !line.isMalformed else { return }
        let written = inspection.inspectDate(
            bytes.span.extracting(line.value),
            line,
            bad: .badDate,
            zone: .dateWithoutZone,
            milliseconds: .dateWithoutMilliseconds
        )
        // Of several dates, the first counts.
        if !hasDate { date = written }
    }

    /// Checks that a tag that applies to the entire playlist precedes the segments, if it must.
    private mutating func readPlaylistWide(_ line: InspectedLine) {
        if line.tag == .skip {
            previousRange = .skipped
            if !segments.isEmpty { inspection.note(.skipAfterSegment, line) }
        } else if line.tag == .mediaSequence, !segments.isEmpty {
            inspection.note(.mediaSequenceAfterSegment, line)
        } else if line.tag == .discontinuitySequence {
            if !segments.isEmpty {
                inspection.note(.discontinuitySequenceAfterSegment, line)
            } else if hasDiscontinuity {
                inspection.note(.discontinuitySequenceAfterDiscontinuity, line)
            }
        }
    }

    private mutating func readInformation(_ line: InspectedLine) {
        if let open = information { inspection.note(.extinfWithoutAddress, open) }
        (information, duration) = (line, nil)
        guard !line.isMalformed else { return }
        if bytes.span.firstIndex(of: UInt8(ascii: ","), in: line.value) == nil {
            inspection.note(.extinfWithoutComma, line)
        }
        duration = inspection.duration(line)
        guard let duration else { return inspection.note(.badDuration, line) }
        // The rounded duration exceeds the target duration from half a second on.
        if let target, let limit, duration >= limit {
            inspection.note(.longerThanTarget, line, "(\(duration) s, target \(target) s)")
        }
    }

    private mutating func readKey(_ line: InspectedLine) {
        let attributes = inspection.attributes(line)
        guard let method = attributes["METHOD"] else { return }
        guard method != "NONE" else {
            (keys, keySet) = ([], 0)
            return
        }
        let format = attributes["KEYFORMAT"] ?? "identity"
        let key = InspectedKey(
            line: line,
            method: method,
            format: format,
            lacksInitializationVector: method == "AES-128" && !attributes.has("IV")
        )
        (keys, keySet) = (keys.filter { $0.format != format }.suffix(15) + [key], nil)
    }
}
