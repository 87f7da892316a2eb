public import MediaTiming
import Synchronization

/// The segments of a media playlist, each parsed when it is accessed.
public struct MediaSegments: RandomAccessCollection, Sendable {
    let storage: MediaPlaylist.Storage

    /// The position of the first segment, 0.
    public var startIndex: Int { 0 }
    /// The position after the last segment.
    public var endIndex: Int { storage.index.segments.count }

    /// Returns the segment at a position.
    ///
    /// - Complexity: O(*l*) for a segment of *l* bytes.
    public subscript(position: Int) -> MediaSegment { MediaSegment(storage, at: position) }

    /// Returns the position of the segment that contains a time, or `nil` if none does.
    ///
    /// - Parameter time: The time since the start of the first segment.
    /// - Returns: The position of the segment.
    /// - Complexity: O(log *n*).
    public func position(at time: MediaTime) -> Int? {
        guard time >= .zero, time < storage.time(storage.index.endTicks) else { return nil }
        let next = storage.index.segments.partitioningIndex { storage.time($0.startTicks) > time }
        return next - 1
    }

    /// Returns the time range of a segment without parsing its lines.
    public func timeRange(at position: Int) -> MediaTimeRange {
        let records = storage.index.segments
        let end = position + 1 < records.count ? records[position + 1].startTicks : storage.index.endTicks
        return MediaTimeRange(start: storage.time(records[position].startTicks), end: storage.time(end))
    }
}

/// The locations of the values in the lines of one segment, found when they are needed.
enum SegmentLines {
    /// Locates the value of `EXTINF`.
    ///
    /// - Parameters:
    ///   - record: The record of the segment.
    ///   - mayContainCarriageReturns: Pass `false` if the playlist contains no CR, which makes scanning faster.
    ///   - bytes: The playlist.
    /// - Returns: The range of the value, or `nil` if there is no such tag.
    static func information(
        _ record: PlaylistIndex.SegmentRecord,
        mayContainCarriageReturns: Bool,
        in bytes: [UInt8]
    ) -> Range<Int>? {
        let span = bytes.span
        var scanner = LineScanner(record.tags, mayContainCarriageReturns: mayContainCarriageReturns)
        var value: Range<Int>?
        while let line = scanner.next(in: span) {
            let text = line.trimmed(in: span)
            if TagBytes.isSegmentInformation(span, in: text) { value = text.dropFirst(8) }
        }
        return value
    }

    /// Locates the value of `EXT-X-BYTERANGE`.
    ///
    /// - Parameters:
    ///   - record: The record of the segment.
    ///   - mayContainCarriageReturns: Pass `false` if the playlist contains no CR, which makes scanning faster.
    ///   - bytes: The playlist.
    /// - Returns: The range of the value, or `nil` if there is no such tag.
    static func byteRange(
        _ record: PlaylistIndex.SegmentRecord,
        mayContainCarriageReturns: Bool,
        in bytes: [UInt8]
    ) -> Range<Int>? {
        let span = bytes.span
        var scanner = LineScanner(record.tags, mayContainCarriageReturns: mayContainCarriageReturns)
        var value: Range<Int>?
        while let line = scanner.next(in: span) {
            var start = line.start
            while start < line.contentEnd, span[start].isBlank { start += 1 }
            guard TagBytes.isByteRange(span, in: start..<line.contentEnd) else { continue }
            value = line.trimmed(in: span).dropFirst(17)
        }
        return value
    }

    /// Returns the range of the URI of a segment, whose line ends at the given offset.
    static func uri(_ record: PlaylistIndex.SegmentRecord, endingAt end: Int, in bytes: [UInt8]) -> Range<Int> {
        let span = bytes.span
        let start = Int(record.uriStart)
        guard start < end else { return start..<start }
        // A carriage return before the line feed is white space.
        return span.trimmingBlanks(start..<(span[end - 1] == UInt8(ascii: "\n") ? end - 1 : end))
    }
}

/// The locations of the attributes of an `EXT-X-PART`, found in one pass, because playlists contain many such tags.
private struct WrittenPart {
    var uri: Range<Int>?
    var duration: Range<Int>?
    var byteRange: Range<Int>?
    var isIndependent = false
    var isGap = false

    init(_ bytes: [UInt8], in range: Range<Int>?) {
        let span = bytes.span
        var cursor = AttributeCursor(range ?? 0..<0)
        var hasIndependent = false
        var hasGap = false
        while let next = cursor.next(in: span) {
            if span.matches("URI", in: next.name) {
                uri = uri ?? next.value
            } else if span.matches("DURATION", in: next.name) {
                duration = duration ?? next.value
            } else if span.matches("BYTERANGE", in: next.name) {
                byteRange = byteRange ?? next.value
            } else if span.matches("INDEPENDENT", in: next.name), !hasIndependent {
                hasIndependent = true
                isIndependent = span.matches("YES", in: next.value)
            } else if span.matches("GAP", in: next.name), !hasGap {
                hasGap = true
                isGap = span.matches("YES", in: next.value)
            }
        }
    }
}

extension MediaPlaylist.Storage {
    func time(_ ticks: Int64) -> MediaTime { MediaTime(value: ticks, fractionDigits: index.timeDigits) }

    func attributes(at record: PlaylistIndex.TagRecord) -> AttributeList {
        AttributeList(bytes, in: bytes.tagLine(at: Int(record.lineStart))?.value, variables: header.variables)
    }

    func attributes(at tag: UInt32) -> AttributeList { attributes(at: index.tags[Int(tag)]) }

    /// Returns the range of the value of a segment's `EXTINF`, or `nil` if there is none.
    func information(of position: Int) -> Range<Int>? {
        let mayContain = index.mayContainCarriageReturns
        return SegmentLines.information(index.segments[position], mayContainCarriageReturns: mayContain, in: bytes)
    }

    /// Returns the range of the value of a segment's `EXT-X-BYTERANGE`, or `nil` if there is none.
    func writtenByteRange(of position: Int) -> Range<Int>? {
        let mayContain = index.mayContainCarriageReturns
        return SegmentLines.byteRange(index.segments[position], mayContainCarriageReturns: mayContain, in: bytes)
    }

    /// Returns the offset and the time at which a segment ends.
    func end(of position: Int) -> (offset: Int, ticks: Int64) {
        let next = position + 1
        guard next < index.segments.count else { return (index.trailerStart, index.endTicks) }
        let record = index.segments[next]
        return (Int(record.blockStart), record.startTicks)
    }

    /// Returns the tags of one kind that belong to a segment.
    func tags(in list: [UInt32], ownedBy position: Int) -> ArraySlice<UInt32> {
        guard !list.isEmpty else { return [] }
        let low = list.partitioningIndex { index.tags[Int($0)].segment >= position }
        var high = low
        while high < list.count, index.tags[Int(list[high])].segment == position { high += 1 }
        return list[low..<high]
    }

    /// Returns a Boolean value that indicates whether a tag of one kind belongs to a segment.
    func hasTag(in list: [UInt32], ownedBy position: Int) -> Bool { !tags(in: list, ownedBy: position).isEmpty }

    /// Returns the last tag of one kind up to a segment, which is the one that applies to it.
    func lastTag(of list: [UInt32], before position: Int) -> PlaylistIndex.TagRecord? {
        let next = list.partitioningIndex { index.tags[Int($0)].segment > position }
        return next > 0 ? index.tags[Int(list[next - 1])] : nil
    }

    /// Returns the byte range of a segment, with an implied offset computed from the previous segments.
    func byteRange(of position: Int) -> ByteRange? {
        guard let text = writtenByteRange(of: position), let written = WrittenByteRange(bytes, in: text) else {
            return nil
        }
        if let start = written.start { return ByteRange(start: start, length: written.length) }
        let next = index.impliedOffsets.partitioningIndex { $0.segment > position }
        guard next > 0 else { return nil }
        // The index stores only some offsets; after a stored offset, each range begins where the previous one ends.
        var start = index.impliedOffsets[next - 1].start
        for segment in Int(index.impliedOffsets[next - 1].segment)..<position {
            guard let text = writtenByteRange(of: segment), let written = WrittenByteRange(bytes, in: text) else {
                return nil
            }
            start +|= written.length
        }
        return ByteRange(start: start, length: written.length)
    }

    /// Returns the keys that apply to a segment, one for each key format (§4.4.4.4).
    func keys(for position: Int) -> [EncryptionKey] { keys(of: keyTags(for: position)) }

    /// The keys of all `EXT-X-KEY` tags, in order.
    var allKeys: [EncryptionKey] {
        header.keys.compactMap { EncryptionKey(attributes(at: $0), context: context) }
    }

    private func keys(of tags: [UInt32]) -> [EncryptionKey] {
        guard !tags.isEmpty else { return [] }
        return cache.withLock { held in
            held.keys(of: tags) { EncryptionKey(attributes(at: $0), context: context) }
        }
    }

    /// Returns the positions in the index of the key tags that apply to a segment.
    func keyTags(for position: Int) -> [UInt32] {
        let next = header.keys.partitioningIndex { index.tags[Int($0)].segment > position }
        return next > 0 ? header.keysInForce(after: next - 1) : []
    }

    /// Returns the positions in the index of the key tags that apply to an `EXT-X-MAP`, which precede it (§4.4.4.5).
    func keyTags(before map: PlaylistIndex.TagRecord) -> [UInt32] {
        let next = header.keys.partitioningIndex { index.tags[Int($0)].lineStart >= map.lineStart }
        return next > 0 ? header.keysInForce(after: next - 1) : []
    }

    func map(for position: Int) -> MediaInitialization? {
        guard let record = lastTag(of: header.maps, before: position) else { return nil }
        if let known = cache.withLock({ $0.map(at: record.lineStart) }) { return known }
        let map = writtenMap(record)
        cache.withLock { $0.storeMap(map, at: record.lineStart) }
        return map
    }

    private func writtenMap(_ record: PlaylistIndex.TagRecord) -> MediaInitialization? {
        let attributes = attributes(at: record)
        guard let uri = attributes["URI"] else { return nil }
        let range = attributes["BYTERANGE"].flatMap { WrittenByteRange($0) }
        return MediaInitialization(
            uri: uri,
            address: context.resolve(uri),
            byteRange: range.flatMap { ByteRange(start: $0.start ?? 0, length: $0.length) },
            keys: keys(of: keyTags(before: record))
        )
    }

    /// Returns the date of a segment, extrapolated from the last date tag up to it.
    func programDateTime(of position: Int) -> ProgramDateTime? {
        let count = tagCount(in: header.dateTimes, before: position)
        let date = cache.withLock { held in
            held.date(ofFirst: count) {
                lastReadable(of: header.dateTimes.prefix(count)) { record in
                    writtenDate(record).map { TagValueCache.Date(segment: Int(record.segment), date: $0) }
                }
            }
        }
        guard let date else { return nil }
        let age = index.segments[position].startTicks -| index.segments[date.segment].startTicks
        return date.date.advanced(by: time(age))
    }

    /// Returns the number of tags of one kind up to a segment.
    private func tagCount(in list: [UInt32], before position: Int) -> Int {
        list.partitioningIndex { index.tags[Int($0)].segment > position }
    }

    /// Returns the value of the last readable tag, searching back over at most ``maximumUnreadableTagCount``.
    private func lastReadable<Value>(
        of list: ArraySlice<UInt32>,
        _ read: (PlaylistIndex.TagRecord) -> Value?
    ) -> Value? {
        for tag in list.suffix(Self.maximumUnreadableTagCount).reversed() {
            if let value = read(index.tags[Int(tag)]) { return value }
        }
        return nil
    }

    /// The maximum number of tags that are searched for a readable value; older tags are ignored.
    private static var maximumUnreadableTagCount: Int { 16 }
    /// The maximum size of a date in bytes; longer values are ignored, so that they are not parsed for each segment.
    private static var maximumDateLength: Int { 64 }

    private func writtenDate(_ record: PlaylistIndex.TagRecord) -> ProgramDateTime? {
        bytes.tagLine(at: Int(record.lineStart))?.value.flatMap {
            $0.count <= Self.maximumDateLength ? ProgramDateTime(bytes.text($0)) : nil
        }
    }

    /// Returns a Boolean value that indicates whether a segment itself has a valid date tag.
    func hasOwnDate(at position: Int) -> Bool {
        guard let record = lastTag(of: header.dateTimes, before: position), record.segment == position else {
            return false
        }
        return writtenDate(record) != nil
    }

    func bitRate(for position: Int) -> BitRate? {
        let count = tagCount(in: header.bitRates, before: position)
        return cache.withLock { held in
            held.bitRate(ofFirst: count) {
                lastReadable(of: header.bitRates.prefix(count)) { record -> BitRate? in
                    guard let value = bytes.tagLine(at: Int(record.lineStart))?.value,
                        let kilobits = bytes.trimmedInteger(value)
                    else { return nil }
                    let (bits, overflow) = kilobits.multipliedReportingOverflow(by: 1_000)
                    return overflow ? nil : BitRate(bitsPerSecond: bits)
                }
            }
        }
    }

    /// Returns the offset of a part whose byte range has none.
    ///
    /// The offset is the end of the previous part if both have the same resource (§4.4.4.9), even if the previous part
    /// belongs to the previous segment, else 0.
    private func impliedPartStart(_ part: Int) -> Int64 {
        if let known = cache.withLock({ $0.partStarts }) { return known[part] }
        let starts = impliedPartStarts
        cache.withLock { $0.partStarts = starts }
        return starts[part]
    }

    /// The implied offsets of all parts, whether or not they have explicit ones; computed in one pass over all parts.
    private var impliedPartStarts: [Int64] {
        var previous: (uri: String, end: Int64)?
        return header.parts.indices.map { part in
            let written = writtenPart(part)
            guard let address = written.uri else { return 0 }
            let uri = header.variables.substitute(bytes.text(address))
            let implied = previous?.uri == uri ? previous?.end ?? 0 : 0
            let range = written.byteRange.flatMap { WrittenByteRange(bytes, in: $0) }
                .flatMap { ByteRange(start: $0.start ?? implied, length: $0.length) }
            previous = range.map { (uri, $0.end) }
            return implied
        }
    }

    private func writtenPart(_ position: Int) -> WrittenPart {
        let record = index.tags[Int(header.parts[position])]
        return WrittenPart(bytes, in: bytes.tagLine(at: Int(record.lineStart))?.value)
    }

    /// The duration of a partial segment; zero if it is missing, invalid, or negative.
    private func duration(of part: WrittenPart) -> MediaTime {
        guard let range = part.duration else { return .zero }
        let bytes = bytes
        return DecimalDigits(bytes.span.extracting(range)).map { max(MediaTime($0), .zero) } ?? .zero
    }

    /// Returns the parts that precede the URI of a segment; for the number of segments, the parts after the last
    /// segment.
    func parts(ofSegment position: Int) -> [PartialSegment] {
        let bytes = bytes
        var result: [PartialSegment] = []
        for position in tags(in: header.parts, ownedBy: position).indices {
            let written = writtenPart(position)
            guard let address = written.uri else { continue }
            let uri = header.variables.substitute(bytes.text(address))
            let byteRange = written.byteRange.flatMap { WrittenByteRange(bytes, in: $0) }.flatMap { range in
                ByteRange(start: range.start ?? impliedPartStart(position), length: range.length)
            }
            result.append(
                PartialSegment(
                    uri: uri,
                    address: context.resolve(uri),
                    duration: duration(of: written),
                    isIndependent: written.isIndependent,
                    isGap: written.isGap,
                    byteRange: byteRange
                )
            )
        }
        return result
    }
}
