public import MediaTiming

/// The segments of a media playlist, read when they are asked for.
public struct MediaSegments: RandomAccessCollection, Sendable {
    let playlist: MediaPlaylist

    /// The position of the first segment.
    public var startIndex: Int { 0 }
    /// The position behind the last segment.
    public var endIndex: Int { playlist.index.segments.count }

    /// - Complexity: O(*l* + log *t*) for a segment of *l* bytes in a playlist of *t* tags.
    public subscript(position: Int) -> MediaSegment { playlist.segment(position) }

    /// The position of the segment that holds a time, counted from the first segment; `nil` outside.
    ///
    /// - Complexity: O(log *n*).
    public func position(at time: MediaTime) -> Int? {
        guard time >= .zero, time < playlist.duration else { return nil }
        let next = playlist.index.segments.partitioningIndex { playlist.time($0.startTicks) > time }
        return next - 1
    }

    /// The stretch of time that a segment fills, without reading its lines.
    public func timeRange(at position: Int) -> MediaTimeRange {
        let records = playlist.index.segments
        let end = position + 1 < records.count ? records[position + 1].startTicks : playlist.index.endTicks
        return MediaTimeRange(start: playlist.time(records[position].startTicks), end: playlist.time(end))
    }
}

extension MediaPlaylist {
    /// What stands in the lines of one segment.
    private struct OwnLines {
        var duration: DecimalDigits?
        var title: String?
        var byteRange: WrittenByteRange?
    }

    func segment(_ position: Int) -> MediaSegment {
        let record = index.segments[position]
        let own = ownLines(of: record)
        let uri = address(of: record)
        let start = time(record.startTicks)
        let date = lastTag(of: header.dateTimes, before: position)
        let dateSegment = date.map { Int($0.segment) }
        let moment = date.flatMap { programDateTime(at: $0) }
        let age = dateSegment.map { start - time(index.segments[$0].startTicks) } ?? .zero
        let discontinuities = header.discontinuities.partitioningIndex { index.tags[$0].segment > position }
        let number = Int64(position) + skippedSegmentCount
        return MediaSegment(
            position: position,
            sequence: mediaSequence.addingReportingOverflow(number).partialValue,
            discontinuitySequence: discontinuitySequence.addingReportingOverflow(Int64(discontinuities)).partialValue,
            start: start,
            duration: own.duration.map { exactDuration($0) } ?? .zero,
            title: own.title,
            uri: uri,
            address: context.resolve(uri),
            byteRange: byteRange(own.byteRange, of: position),
            map: map(for: position),
            keys: keys(for: position),
            programDateTime: moment?.advanced(by: age),
            hasOwnProgramDateTime: dateSegment == position && moment != nil,
            isGap: tagsOwned(by: position, in: header.gaps).isEmpty == false,
            hasDiscontinuity: tagsOwned(by: position, in: header.discontinuities).isEmpty == false,
            bitRate: bitRate(for: position),
            parts: parts(ofSegment: position)
        )
    }

    /// The tags of one kind that stand in the lines of one segment.
    func tagsOwned(by position: Int, in list: [Int]) -> ArraySlice<Int> {
        let low = list.partitioningIndex { index.tags[$0].segment >= position }
        let high = list.partitioningIndex { index.tags[$0].segment > position }
        return list[low..<high]
    }

    private func lastTag(of list: [Int], before position: Int) -> PlaylistIndex.TagRecord? {
        let next = list.partitioningIndex { index.tags[$0].segment > position }
        return next > 0 ? index.tags[list[next - 1]] : nil
    }

    private func ownLines(of record: PlaylistIndex.SegmentRecord) -> OwnLines {
        var own = OwnLines()
        var scanner = LineScanner(Int(record.blockStart)..<Int(record.uriStart))
        let span = bytes.span
        while let line = scanner.next(in: span) {
            let text = line.trimmed(in: span)
            if bytes.hasPrefix("#EXTINF", at: text.lowerBound, before: text.upperBound) {
                let value = text.dropFirst(8)
                own.duration = SegmentInformation.duration(bytes, in: value)
                own.title = SegmentInformation.title(bytes, in: value)
            } else if bytes.hasPrefix("#EXT-X-BYTERANGE:", at: text.lowerBound, before: text.upperBound) {
                own.byteRange = WrittenByteRange(bytes, in: text.dropFirst(17))
            }
        }
        return own
    }

    private func exactDuration(_ digits: DecimalDigits) -> MediaTime {
        guard digits.value > 0 else { return .zero }
        return MediaTime(value: digits.value, timescale: DecimalDigits.power(of: digits.fractionDigits))
    }

    private func address(of record: PlaylistIndex.SegmentRecord) -> String {
        guard let line = line(at: Int(record.uriStart)) else { return "" }
        return header.variables.substitute(bytes.text(line.trimmed(in: bytes.span)))
    }

    private func byteRange(_ written: WrittenByteRange?, of position: Int) -> ByteRange? {
        guard let written else { return nil }
        if let start = written.start { return ByteRange(start: start, length: written.length) }
        let implied = index.impliedOffsets.partitioningIndex { $0.segment >= position }
        guard implied < index.impliedOffsets.count, index.impliedOffsets[implied].segment == position
        else { return nil }
        return ByteRange(start: index.impliedOffsets[implied].start, length: written.length)
    }

    /// The keys in force for a segment, one for each key format (§4.4.4.4).
    package func keys(for position: Int) -> [EncryptionKey] {
        keyTags(for: position).compactMap {
            EncryptionKey(attributes(at: index.tags[$0]), context: context, variables: header.variables)
        }
    }

    /// The positions in the index of the key tags in force for a segment.
    func keyTags(for position: Int) -> [Int] {
        let next = header.keys.partitioningIndex { index.tags[$0].segment > position }
        return next > 0 ? header.keysInForce[next - 1] : []
    }

    /// The positions in the index of the key tags that hold for a map: those before it (§4.4.4.5).
    func keyTags(before map: PlaylistIndex.TagRecord) -> [Int] {
        let next = header.keys.partitioningIndex { index.tags[$0].lineStart >= map.lineStart }
        return next > 0 ? header.keysInForce[next - 1] : []
    }

    private func map(for position: Int) -> MediaInitialization? {
        guard let record = lastTag(of: header.maps, before: position) else { return nil }
        let attributes = attributes(at: record)
        guard let written = attributes["URI"] else { return nil }
        let uri = header.variables.substitute(written)
        let range = attributes["BYTERANGE"].flatMap { WrittenByteRange($0) }
        return MediaInitialization(
            uri: uri,
            address: context.resolve(uri),
            byteRange: range.flatMap { ByteRange(start: $0.start ?? 0, length: $0.length) },
            keys: keysBefore(record)
        )
    }

    private func keysBefore(_ map: PlaylistIndex.TagRecord) -> [EncryptionKey] {
        keyTags(before: map).compactMap {
            EncryptionKey(attributes(at: index.tags[$0]), context: context, variables: header.variables)
        }
    }

    private func programDateTime(at record: PlaylistIndex.TagRecord) -> ProgramDateTime? {
        tagLine(at: Int(record.lineStart))?.value.flatMap { ProgramDateTime(bytes.text($0)) }
    }

    private func bitRate(for position: Int) -> BitRate? {
        guard let record = lastTag(of: header.bitRates, before: position),
            let value = tagLine(at: Int(record.lineStart))?.value, let kilobits = Int64(bytes.text(value))
        else { return nil }
        let (bits, overflow) = kilobits.multipliedReportingOverflow(by: 1_000)
        return overflow ? nil : BitRate(bitsPerSecond: bits)
    }

    /// The parts that stand before a segment's address; with the number of segments, those behind the last.
    func parts(ofSegment position: Int) -> [PartialSegment] {
        var result: [PartialSegment] = []
        var previous: (uri: String, end: Int64)?
        for tag in tagsOwned(by: position, in: header.parts) {
            let attributes = attributes(at: index.tags[tag])
            guard let written = attributes["URI"] else { continue }
            let uri = header.variables.substitute(written)
            let range = attributes["BYTERANGE"].flatMap { WrittenByteRange($0) }
            let start = range.map { $0.start ?? (previous?.uri == uri ? previous?.end ?? 0 : 0) }
            let byteRange = range.flatMap { ByteRange(start: start ?? 0, length: $0.length) }
            previous = byteRange.map { (uri, $0.end) }
            result.append(
                PartialSegment(
                    uri: uri,
                    address: context.resolve(uri),
                    duration: attributes.decimal("DURATION") ?? .zero,
                    isIndependent: attributes.isYes("INDEPENDENT"),
                    isGap: attributes.isYes("GAP"),
                    byteRange: byteRange
                )
            )
        }
        return result
    }
}
