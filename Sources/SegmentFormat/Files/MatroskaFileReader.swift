import MediaTiming

/// A reader of the duration, tracks and cues of a Matroska or WebM file (RFC 9559), and of the tags and attachments
/// before the first cluster.
///
/// Segments start at cues, where decoding can start. A file without cues is one segment.
struct MatroskaFileReader: MediaFileReader {
    private let container: MediaContainer
    private let minimumSegmentDuration: MediaTime
    private var position: Int64 = 0
    private var elementCount = 0
    private var isFinished = false
    /// The file offset of the content of the `Segment` element, to which all positions are relative.
    private var segmentStart: Int64?
    private var segmentEnd: Int64?
    private var firstCluster: Int64?
    private var cuesOffset: Int64?
    private var cues: [Cue]?
    private var subtitleCues = MatroskaSubtitleCues()
    /// The timestamp scale: the number of nanoseconds per unit.
    private var timestampScale: UInt64 = 1_000_000
    private var durationUnits: Double = 0
    private var tracks: [MediaTrack] = []
    private var metadata = MediaFileMetadata()
    /// The last cluster of a file that ends early or declares no duration; `nil` until it is found.
    private var lastCluster: Cue?
    /// The end of the last block of that cluster, in units of the timestamp scale; `nil` without blocks.
    private var lastBlockEnd: UInt64?
    private var hasSearchedLastCluster = false
    /// The attachments at the current position; `nil` outside of attachments.
    private var attachments: Attachments?
    private var search = MatroskaElementSearch()

    struct Cue {
        let units: UInt64
        let cluster: Int64
    }

    /// The attachments that are being read.
    private struct Attachments {
        /// The file offset after the attachments.
        let end: Int64
        /// The number of attachments that were read.
        var count = 0
        /// The number of bytes of images that were loaded.
        var imageByteCount: Int64 = 0
    }

    /// The maximum number of attachments of which the types are read, because each of them can take a request.
    private static let maximumAttachmentCount = 16
    /// The number of bytes at the beginning of an attachment in which its media type is expected.
    private static let attachmentHeadSize: Int64 = 1_024
    private static let maximumElementCount = 1_000
    private static let maximumElementSize: Int64 = 16 << 20
    private static let maximumCueCount = 1_000_000
    /// The number of bytes at the end of an incomplete file in which its last cluster is searched; muxers write clusters
    /// of a few megabytes.
    private static let searchedEndSize: Int64 = 8 << 20

    init(_ container: MediaContainer, _ minimumSegmentDuration: MediaTime) {
        self.container = container
        self.minimumSegmentDuration = minimumSegmentDuration
    }

    mutating func advance(with file: LoadedFileParts) -> MediaFileIndexer.State {
        while !isFinished, elementCount < Self.maximumElementCount {
            if search.isActive {
                if let needed = findNextElement(file) { return needed }
                continue
            }
            if file.ends(at: position) {
                if correctCuesOffset() { continue }
                // The size of an element before the first cluster can be wrong.
                guard firstCluster == nil, attachments == nil, search.begin(afterEndOf: file, at: position) else {
                    break
                }
                continue
            }
            guard let found = file.loadedBytes(at: position, count: 16) else {
                return file.request(at: position, count: 8_192)
            }
            let header = MatroskaElement(found.bytes.span, at: found.offset, end: found.bytes.count)
            if attachments == nil, firstCluster == nil, skipDamage(header, file) { continue }
            guard let element = header else {
                guard leaveUnreadableElement() else { break }
                continue
            }
            if attachments == nil, firstCluster != nil, element.id != 0x1C53_BB6B, correctCuesOffset() { continue }
            elementCount += 1
            let needed = attachments == nil ? processElement(element, file) : processAttachment(element, file)
            if let needed { return needed }
        }
        if let needed = findLastCluster(file) { return needed }
        return .ready(makeTimeline(from: file))
    }

    /// Continues at the next element after damage; returns a request if more bytes are required.
    private mutating func findNextElement(_ file: LoadedFileParts) -> MediaFileIndexer.State? {
        switch search.advance(in: file, findsSegment: segmentStart == nil) {
        case .needsBytes(let needed): return needed
        case .found(let start): position = start
        case .ended: isFinished = true
        }
        return nil
    }

    /// Begins the search for the next element if there is none at ``position``, before the first cluster.
    ///
    /// - Returns: A Boolean value that indicates whether the reader continues without the element at ``position``.
    private mutating func skipDamage(_ element: MatroskaElement?, _ file: LoadedFileParts) -> Bool {
        if let element, element.isTopLevel, element.length != nil || element.mayHaveUnknownSize { return false }
        if let element, let length = element.length {
            let end = position.addingSaturated(Int64(element.headerLength)).addingSaturated(length)
            // Elements that the standard does not define are skipped, unless damage follows them.
            if file.length.map({ end < $0 }) ?? true, search.noteUnknownElement() {
                elementCount += 1
                position = end
                return true
            }
        }
        search.begin()
        return true
    }

    /// Leaves attachments that cannot be read further, or looks for the cues elsewhere.
    ///
    /// - Returns: A Boolean value that indicates whether the reader continues.
    private mutating func leaveUnreadableElement() -> Bool {
        guard let end = attachments?.end else { return correctCuesOffset() }
        leaveAttachments(at: end)
        return true
    }

    /// Moves the position to that of the cues in a file with more or fewer bytes before the first cluster, if the cues are not at
    /// the position to which the file refers.
    ///
    /// - Returns: A Boolean value that indicates whether the position was changed.
    private mutating func correctCuesOffset() -> Bool {
        guard firstCluster != nil, let offset = cuesOffset, offset == position, search.shift != 0 else { return false }
        cuesOffset = nil
        position = max(0, offset +| search.shift)
        return true
    }

    private mutating func processElement(_ element: MatroskaElement, _ file: LoadedFileParts) -> MediaFileIndexer.State?
    {
        let start = position.addingSaturated(Int64(element.headerLength))
        let end = element.length.map { start.addingSaturated($0) }
        if firstCluster == nil { search.noteElement(element, contentStart: start, end: end) }
        switch element.id {
        case 0x1853_8067 where segmentStart == nil:
            segmentStart = start
            segmentEnd = end
            position = start
            return nil
        case 0x1F43_B675:
            firstCluster = firstCluster ?? position
            // After the first cluster, only the cues are required.
            guard cues == nil, let declared = cuesOffset, max(declared, declared +| search.shift) > position else {
                isFinished = true
                return nil
            }
            // With many added bytes, the declared offset of the cues is before the first cluster.
            if declared <= position { cuesOffset = nil }
            let corrected = declared +| search.shift
            position = declared > position ? declared : corrected
            return nil
        case 0x1941_A469 where firstCluster == nil && position <= Int64(MediaFileMetadata.maximumSize):
            guard let end, end > start else { break }
            attachments = Attachments(end: end)
            position = start
            return nil
        case 0x114D_9B74, 0x1549_A966, 0x1654_AE6B, 0x1C53_BB6B, 0x1254_C367:
            let isMetadata = element.id == 0x1254_C367
            let limit = isMetadata ? Int64(MediaFileMetadata.maximumSize) : Self.maximumElementSize
            guard let length = element.length, length <= limit, !isMetadata || position <= limit else { break }
            let whole = element.headerLength + Int(length)
            guard let found = file.loadedBytes(at: position, count: whole) else {
                return file.request(at: position, count: whole)
            }
            let content = found.offset + element.headerLength..<found.offset + min(found.count, whole)
            read(element.id, content, found.bytes.span)
            if firstCluster != nil { isFinished = true }
        default:
            break
        }
        guard let end else {
            isFinished = true
            return nil
        }
        position = end
        return nil
    }

    /// Reads an attachment, of which only the beginning is loaded if it is not an image, such as a font.
    private mutating func processAttachment(
        _ element: MatroskaElement,
        _ file: LoadedFileParts
    ) -> MediaFileIndexer.State? {
        guard var list = attachments else { return nil }
        guard let length = element.length, list.count < Self.maximumAttachmentCount,
            metadata.artwork?.isFrontCover != true
        else {
            leaveAttachments(at: list.end)
            return nil
        }
        let next = min(list.end, position +| Int64(element.headerLength) +| length)
        let whole = next -| position
        if element.id == 0x61A7 {
            let headSize = Int(clamping: min(whole, Self.attachmentHeadSize))
            guard let head = file.loadedBytes(at: position, count: headSize) else {
                return file.request(at: position, count: 8_192)
            }
            let headContent = Self.content(of: element, in: head, count: headSize)
            if MediaFileMetadata.isImage(matroskaAttachment: headContent, head.bytes.span),
                whole <= Int64(MediaFileMetadata.maximumSize) -| list.imageByteCount
            {
                let count = Int(clamping: whole)
                guard let found = file.loadedBytes(at: position, count: count) else {
                    return file.request(at: position, count: count)
                }
                list.imageByteCount +|= whole
                let content = Self.content(of: element, in: found, count: count)
                metadata.addAttachment(matroska: content, found.bytes.span)
            }
        }
        list.count += 1
        attachments = list
        if next >= list.end { leaveAttachments(at: list.end) } else { position = next }
        return nil
    }

    private mutating func leaveAttachments(at end: Int64) {
        position = end
        attachments = nil
    }

    /// Returns the range of the loaded content of an element at the beginning of loaded bytes.
    private static func content(
        of element: MatroskaElement,
        in found: LoadedFileParts.LoadedBytes,
        count: Int
    ) -> Range<Int> {
        let start = found.offset + element.headerLength
        return start..<max(start, found.offset + min(found.count, count))
    }

    /// Looks for the last cluster of a file that ends early or declares no duration, whose blocks tell the duration of the
    /// media in the file; returns a request if more bytes are required.
    private mutating func findLastCluster(_ file: LoadedFileParts) -> MediaFileIndexer.State? {
        guard !hasSearchedLastCluster, let firstCluster, let length = file.length, firstCluster < length,
            durationUnits <= 0 || declaredEnd(in: file).map({ $0 > length }) ?? false
        else { return nil }
        let start = max(firstCluster, length -| Self.searchedEndSize)
        let count = Int(clamping: length -| start)
        guard let found = file.loadedBytes(at: start, count: count) else {
            return file.request(at: start, count: count)
        }
        hasSearchedLastCluster = true
        let span = found.bytes.span
        let end = found.offset + min(count, found.count)
        // A cluster begins with its identifier, its size and its timestamp, which only a checksum precedes.
        for offset in stride(from: end - 12, through: found.offset, by: -1) where span[offset] == 0x1F {
            guard let element = MatroskaElement(span, at: offset, end: end), element.id == 0x1F43_B675 else { continue }
            var walker = MatroskaElementIterator(offset + element.headerLength..<end, in: span)
            var child = walker.next(span)
            if child?.id == 0xBF { child = walker.next(span) }
            guard let child, child.id == 0xE7, !child.content.isEmpty else { continue }
            let units = span.matroskaUnsigned(child.content)
            lastCluster = Cue(units: units, cluster: start +| Int64(offset - found.offset))
            let blocks = Self.lastBlockEnd(in: offset + element.headerLength..<end, span)
            lastBlockEnd = blocks.map { units +| $0 }
            break
        }
        return nil
    }

    /// Returns the end of the last block of a cluster, in units after the timestamp of the cluster.
    ///
    /// The duration of the block is assumed to be the distance to the previous one.
    ///
    /// - Parameters:
    ///   - content: The content of the cluster, of which the end may be missing.
    ///   - bytes: The bytes that contain the cluster.
    /// - Returns: The number of units; `nil` if there are no blocks with a time after that of the cluster.
    private static func lastBlockEnd(in content: Range<Int>, _ bytes: Span<UInt8>) -> UInt64? {
        var walker = MatroskaElementIterator(content, in: bytes)
        var (previous, last) = (UInt64(0), UInt64(0))
        while let child = walker.next(bytes) {
            var block = child.id == 0xA3 ? child.content : 0..<0
            if child.id == 0xA0 {
                var group = MatroskaElementIterator(child.content, in: bytes)
                while let field = group.next(bytes) {
                    if field.id == 0xA1 { block = field.content }
                }
            }
            // A block begins with the number of its track, and with its time as a signed number of 16 bits.
            guard !block.isEmpty else { continue }
            let numberLength = bytes[block.lowerBound].leadingZeroBitCount + 1
            guard numberLength <= 8, block.count >= numberLength + 2 else { continue }
            let time = bytes.unsigned(2, at: block.lowerBound + numberLength)
            if time < 0x8000, time > last { (previous, last) = (last, time) }
        }
        guard last > 0 else { return nil }
        return last +| (last -| previous)
    }

    private mutating func read(_ id: UInt32, _ content: Range<Int>, _ bytes: Span<UInt8>) {
        guard id != 0x1254_C367 else { return metadata.addTags(matroska: content, bytes) }
        var walker = MatroskaElementIterator(content, in: bytes)
        var list: [Cue] = []
        let subtitleTracks = Set(tracks.filter { $0.mediaType == .subtitles }.map { UInt64($0.id) })
        while let child = walker.next(bytes) {
            switch (id, child.id) {
            case (0x114D_9B74, 0x4DBB): readSeek(child.content, bytes)
            case (0x1549_A966, 0x2A_D7B1): timestampScale = max(1, bytes.matroskaUnsigned(child.content))
            case (0x1549_A966, 0x7BA9): metadata.add(bytes.metadataText(child.content), as: .title)
            case (0x1549_A966, 0x4489): durationUnits = bytes.matroskaFloat(child.content)
            case (0x1654_AE6B, 0xAE):
                if tracks.count < Movie.maximumTrackCount { tracks.append(MediaTrack(matroska: child.content, bytes)) }
            case (0x1C53_BB6B, 0xBB):
                if list.count < Self.maximumCueCount, let cue = cue(child.content, bytes) { list.append(cue) }
                guard let segmentStart else { break }
                subtitleCues.add(child.content, bytes, tracks: subtitleTracks, segmentStart: segmentStart)
            default: break
            }
        }
        if id == 0x1C53_BB6B { cues = list }
    }

    private mutating func readSeek(_ content: Range<Int>, _ bytes: Span<UInt8>) {
        var walker = MatroskaElementIterator(content, in: bytes)
        var (id, position) = (UInt64(0), UInt64(0))
        while let child = walker.next(bytes) {
            if child.id == 0x53AB { id = bytes.matroskaUnsigned(child.content) }
            if child.id == 0x53AC { position = bytes.matroskaUnsigned(child.content) }
        }
        if id == 0x1C53_BB6B, let segmentStart { cuesOffset = segmentStart.addingSaturated(Int64(clamping: position)) }
    }

    private func cue(_ content: Range<Int>, _ bytes: Span<UInt8>) -> Cue? {
        var walker = MatroskaElementIterator(content, in: bytes)
        var (units, position) = (UInt64?.none, UInt64?.none)
        while let child = walker.next(bytes) {
            if child.id == 0xB3 { units = bytes.matroskaUnsigned(child.content) }
            guard child.id == 0xB7, position == nil else { continue }
            var positions = MatroskaElementIterator(child.content, in: bytes)
            while let field = positions.next(bytes) {
                if field.id == 0xF1 { position = bytes.matroskaUnsigned(field.content) }
            }
        }
        guard let units, let position, let segmentStart else { return nil }
        return Cue(units: units, cluster: segmentStart.addingSaturated(Int64(clamping: position)))
    }
}

extension MatroskaFileReader {
    func makeTimeline(from file: LoadedFileParts) -> MediaFileTimeline {
        let declaredDuration =
            durationUnits > 0 ? MediaTime(approximating: durationUnits * Double(timestampScale) / 1_000_000_000) : nil
        let available = availableDuration(in: file)
        // A recording that was not finished, or was written to a pipe, has no duration.
        let duration = declaredDuration ?? available
        // The declared end of a file that ends early shows how much is missing.
        let segmentEnd = declaredEnd(in: file)
        let declaredLength = file.length.map { max($0, segmentEnd ?? $0) }
        var timeline = MediaFileTimeline(wholeFile: container, length: declaredLength, duration: duration)
        timeline.tracks = tracks
        timeline.metadata = metadata
        timeline.damage = search.problem
        guard let duration, let firstCluster, let length = file.length else { return timeline }
        if declaredDuration == nil { timeline.missingLengthAccuracy = .minimum }
        let usableCues = search.problem == nil ? cues : cues.flatMap { correctedCues($0, firstCluster) }
        guard let cues = usableCues else {
            if let available, available <= duration, let declaredLength, declaredLength > length,
                let existing = ByteRange(start: 0, length: length),
                let missing = ByteRange(start: length, length: declaredLength -| length)
            {
                timeline.segments = [
                    MediaFileSegment(timeRange: MediaTimeRange(start: .zero, end: available), byteRange: existing),
                    MediaFileSegment(timeRange: MediaTimeRange(start: available, end: duration), byteRange: missing),
                ]
            }
            return timeline
        }
        var segments = segments(cues: cues, duration: duration, from: firstCluster, to: segmentEnd ?? length)
        guard segments.count > 1 else { return timeline }
        if search.shift == 0 { subtitleCues.setOffsets(of: &segments) { mediaTime(ofUnits: $0) } }
        timeline.segments = segments
        if let available { timeline.divideLastSegment(at: length, available) }
        timeline.initializationRange = ByteRange(start: 0, length: firstCluster)
        return timeline
    }

    /// Returns the declared end of the segment, which bytes that were added or lost before the first cluster have moved; `nil` if
    /// it is unknown.
    private func declaredEnd(in file: LoadedFileParts) -> Int64? {
        guard let segmentEnd, search.shift != 0, segmentEnd +| search.shift == file.length else { return segmentEnd }
        return file.length
    }

    /// Returns the cues of a file that is damaged before its first cluster; `nil` if they refer to other positions.
    private func correctedCues(_ cues: [Cue], _ firstCluster: Int64) -> [Cue]? {
        guard let first = cues.map(\.cluster).min() else { return nil }
        // The positions are right if one of them is that of a cluster that was found: the clusters before it are damaged.
        if cues.contains(where: { $0.cluster == firstCluster }) { return cues.filter { $0.cluster >= firstCluster } }
        guard first +| search.shift == firstCluster else { return nil }
        return cues.map { Cue(units: $0.units, cluster: $0.cluster +| search.shift) }
    }

    /// Returns the duration of the media in a file that ends early or declares no duration: the end of its last block, or
    /// the time of its end at the average bit rate after the start of its last cluster; `nil` if that was not found.
    private func availableDuration(in file: LoadedFileParts) -> MediaTime? {
        guard let lastCluster, let firstCluster, let length = file.length else { return nil }
        if let lastBlockEnd { return mediaTime(ofUnits: lastBlockEnd) }
        let start = mediaTime(ofUnits: lastCluster.units)
        let read = Double(lastCluster.cluster -| firstCluster)
        guard start > .zero, read > 0 else { return nil }
        let rest = start.seconds / read * Double(length -| lastCluster.cluster)
        return start + (MediaTime(approximating: rest) ?? .zero)
    }

    /// Returns the time that is a number of units of the timestamp scale after the beginning.
    private func mediaTime(ofUnits units: UInt64) -> MediaTime {
        MediaTime(
            value: Int64(clamping: units.multipliedSaturated(by: timestampScale)),
            timescale: 1_000_000_000
        )
    }

    private func segments(cues: [Cue], duration: MediaTime, from start: Int64, to end: Int64) -> [MediaFileSegment] {
        var builder = MediaFileSegmentBuilder(minimumSegmentDuration)
        var (time, position) = (MediaTime.zero, start)
        for cue in cues where cue.cluster > position && cue.cluster < end {
            let next = mediaTime(ofUnits: cue.units)
            guard next > time, next < duration else { continue }
            builder.appendFragment(
                MediaTimeRange(start: time, end: next),
                from: position,
                to: cue.cluster,
                canStartSegment: true
            )
            (time, position) = (next, cue.cluster)
        }
        guard end > position else { return [] }
        builder.appendFragment(
            MediaTimeRange(start: time, end: duration),
            from: position,
            to: end,
            canStartSegment: true
        )
        return builder.makeSegments().pieces
    }
}
