import MediaTiming

/// A reader of the top-level boxes of an ISO base media file.
///
/// A segment index (`sidx`) or the fragment table at the end (`mfra`) makes it unnecessary to read each fragment's
/// header.
struct MovieFileReader: MediaFileReader {
    private var position: Int64 = 0
    private var boxCount = 0
    private var isFinished = false
    private var movie: Movie?
    private var metadata = MediaFileMetadata()
    /// A Boolean value that indicates whether there is media data (`mdat`), and none of the boxes with which segments of
    /// streams begin.
    private var lacksOnlyMovie: Bool { hasMediaData && !hasSegmentBox }
    private var hasMediaData = false
    /// A Boolean value that indicates whether the size of the media data was never written.
    private var isMediaUnsized = false
    private var hasSegmentBox = false
    private var initialization: ByteRange?
    private var leadingTrack: Movie.Track?
    private var progressiveSegments: [MediaFileSegment] = []
    /// The offset of the first box that precedes the next fragment and belongs to it, such as `styp` or `emsg`.
    private var fragmentStart: Int64?
    private var indexes = SegmentIndexIterator()
    private var segmentBuilder: MediaFileSegmentBuilder
    private var fragmentTable = FragmentTableState.unknown
    /// A Boolean value that indicates whether the times are from a segment index.
    ///
    /// Those times have the edit list applied (ISO/IEC 14496-12 §8.16.3.3).
    private var isIndexed = false
    private var problem: MediaFormatError?
    /// A clause about the first box whose size is impossible; `nil` if none was found.
    private var sizeProblem: String?
    private let minimumSegmentDuration: MediaTime

    /// The state of reading the fragment table at the end of the file.
    private enum FragmentTableState {
        case unknown
        case requested(Int64)
        case done
    }

    /// The maximum number of top-level boxes that are read.
    private static let maximumBoxCount = 200_000
    /// The number of bytes per request; enough for a box header and for a typical `moof` box.
    private static let requestSize = 4_096
    private static let maximumMovieFragmentSize: Int64 = 16 << 20
    /// The maximum number of boxes after the movie box of a progressive file whose sizes are examined.
    private static let maximumUnreadBoxCount = 16

    init(_ minimumSegmentDuration: MediaTime) {
        self.minimumSegmentDuration = minimumSegmentDuration
        segmentBuilder = MediaFileSegmentBuilder(minimumSegmentDuration)
    }

    mutating func advance(with file: LoadedFileParts) -> MediaFileIndexer.State {
        while true {
            if let needed = indexes.advance(file, &segmentBuilder) { return needed }
            if let end = indexes.removeEnd() { position = max(position, end) }
            if case .requested = fragmentTable, let needed = readFragmentTable(file) { return needed }
            guard !file.ends(at: position), boxCount < Self.maximumBoxCount, !isFinished, problem == nil else { break }
            guard let found = file.loadedBytes(at: position, count: 32) else {
                return file.request(at: position, count: nextRequestBytes(file))
            }
            guard found.count > 0 else { break }
            guard let box = BoxHeader(found.bytes.span, at: found.offset) else {
                problem = .malformed("box")
                if found.count >= 8 { sizeProblem = sizeProblem ?? Self.invalidSize(at: position) }
                if found.bytes.span.hasBytes("mdat", at: found.offset + 4) { noteUnsizedMedia() }
                break
            }
            boxCount += 1
            if let needed = processBox(box, file) { return needed }
        }
        return .ready(makeTimeline(from: file))
    }

    /// Returns the number of bytes to request at the current position.
    ///
    /// After the samples of a progressive file there is usually only the movie box, so the rest is loaded in one
    /// request.
    private func nextRequestBytes(_ file: LoadedFileParts) -> Int {
        guard movie == nil, let length = file.length, length -| position <= 4 << 20 else { return Self.requestSize }
        return Int(max(32, length -| position))
    }

    /// Reads the box at ``position`` and advances to its end; returns a request if more bytes are required.
    private mutating func processBox(_ box: BoxHeader, _ file: LoadedFileParts) -> MediaFileIndexer.State? {
        let end = box.length.map { position.addingSaturated($0) } ?? file.length ?? .max
        noteBox(box)
        sizeProblem = sizeProblem ?? box.sizeProblem(at: position, inFileOfLength: file.length)
        switch box.type {
        case .moov:
            guard movie == nil else { break }
            return readWholeBox(box, file, maximumSize: Int64(MediaFileIndexer.maximumRequestSize)) { reading, found in
                reading.readMovie(found, end)
            }
        case .sidx:
            guard movie != nil else { break }
            return readWholeBox(box, file, maximumSize: 1 << 20) { reading, found in reading.readIndex(found, end) }
        case .moof:
            guard movie != nil else { break }
            if case .unknown = fragmentTable, indexes.isEmpty, !file.isCompletelyLoaded, file.length != nil {
                fragmentTable = .requested(position)
                return readFragmentTable(file)
            }
            if startIndexes() { return nil }
            return readWholeBox(box, file, maximumSize: Self.maximumMovieFragmentSize) { reading, found in
                reading.readFragment(found, end)
            }
        case .mdat:
            if startIndexes() { return nil }
            // The end of a box after that of the file shows that the file was cut off.
            if !segmentBuilder.isEmpty { segmentBuilder.extend(to: end) }
            fragmentStart = nil
        case .styp, .emsg, .prft:
            if startIndexes() { return nil }
            if movie != nil { fragmentStart = fragmentStart ?? position }
        default:
            break
        }
        position = end
        return nil
    }

    /// Notes the boxes that tell a recording that did not finish from a segment of a stream, if there is no movie box.
    private mutating func noteBox(_ box: BoxHeader) {
        switch box.type {
        case .mdat where box.length.map({ $0 <= Int64(box.headerLength) }) ?? true: noteUnsizedMedia()
        case .mdat: hasMediaData = true
        case .moof, .styp, .sidx: hasSegmentBox = true
        default: break
        }
    }

    private mutating func noteUnsizedMedia() {
        hasMediaData = true
        isMediaUnsized = true
    }

    /// Calls `body` with all bytes of a box, or returns a request for them; sets a problem if the box is too large.
    private mutating func readWholeBox(
        _ box: BoxHeader,
        _ file: LoadedFileParts,
        maximumSize: Int64,
        _ body: (inout Self, LoadedFileParts.LoadedBytes) -> Void
    ) -> MediaFileIndexer.State? {
        let length = box.length ?? (file.length ?? .max).subtractingSaturated(position)
        guard length <= maximumSize else {
            problem = .tooLarge(box.type.description)
            return nil
        }
        guard let found = file.loadedBytes(at: position, count: Int(length)) else {
            return file.request(at: position, count: Int(length))
        }
        body(&self, found)
        return nil
    }
}

// MARK: Boxes

extension MovieFileReader {
    private mutating func readMovie(_ found: LoadedFileParts.LoadedBytes, _ end: Int64) {
        defer { position = end }
        do throws(MediaFormatError) {
            let movie = try Movie(found.bytes.span, at: found.offset)
            self.movie = movie
            var boxes = BoxIterator(found.offset..<found.bytes.count, in: found.bytes.span)
            let box = boxes.next(found.bytes.span)
            sizeProblem = sizeProblem ?? box?.firstSizeProblem(in: found.bytes.span)
            metadata = MediaFileMetadata(movieBoxIn: found.bytes.span, at: found.offset)
            leadingTrack =
                movie.tracks.first { $0.mediaType == .video } ?? movie.tracks.first { $0.mediaType == .audio }
                ?? movie.tracks.first
            // If the movie box is at the start of the file, the preceding brands belong to the initialization section.
            let start = movie.isFragmented || boxCount < 8 && position < 4_096 ? 0 : position
            initialization = ByteRange(start: start, length: end -| start)
            progressiveSegments = movie.segments(minimumDuration: minimumSegmentDuration, in: found.bytes.span)
            // If a fragmented file has samples in the movie box itself, its fragments are not read.
            if !progressiveSegments.isEmpty || !movie.isFragmented { isFinished = true }
        } catch {
            problem = error
        }
    }

    private mutating func readIndex(_ found: LoadedFileParts.LoadedBytes, _ end: Int64) {
        // The index of a single segment is part of that segment for clients that load it individually.
        fragmentStart = fragmentStart ?? position
        if let index = try? SegmentIndex(
            found.bytes.span,
            at: found.offset,
            fileOffset: position -| Int64(found.offset)
        ) {
            indexes.add(index)
        }
        position = end
    }

    /// Starts with the indexes that were read consecutively, and returns whether there was one.
    private mutating func startIndexes() -> Bool {
        guard indexes.start(for: leadingTrack?.id, firstOffset: fragmentStart) else { return false }
        fragmentTable = .done
        fragmentStart = nil
        isIndexed = true
        return true
    }

    private mutating func readFragment(_ found: LoadedFileParts.LoadedBytes, _ end: Int64) {
        defer { position = end }
        let start = fragmentStart ?? position
        guard let leadingTrack else { return }
        let fragment = try? MovieFragment(
            found.bytes.span,
            at: found.offset,
            fileOffset: position -| Int64(found.offset),
            movie: movie
        )
        guard let track = fragment?.track(leadingTrack.id), let duration = track.duration else {
            // A fragment of other tracks belongs to the previous fragment; at the start of the file, to the next one.
            if segmentBuilder.isEmpty { fragmentStart = start } else { segmentBuilder.extend(to: end) }
            return
        }
        segmentBuilder.appendFragment(
            MediaTimeRange(start: track.presentationTime ?? segmentBuilder.timeEnd ?? .zero, duration: duration),
            from: start,
            to: end,
            canStartSegment: track.isFirstSampleSync != false
        )
    }

    /// Looks for the fragment table at the end of the file; returns a request if more bytes are required.
    private mutating func readFragmentTable(_ file: LoadedFileParts) -> MediaFileIndexer.State? {
        guard case .requested(let first) = fragmentTable, let length = file.length, length > 16 else { return nil }
        let usual = min(length, 32_768)
        guard let last = file.loadedBytes(at: length -| 16, count: 16) else {
            return file.request(at: length -| usual, count: Int(usual))
        }
        fragmentTable = .done
        let size = Int64(FragmentRandomAccess.size(atEndOf: last.bytes.span) ?? 0)
        guard size >= 24, size < length -| first, size <= Self.maximumMovieFragmentSize else { return nil }
        guard let found = file.loadedBytes(at: length -| size, count: Int(size)) else {
            fragmentTable = .requested(first)
            return file.request(at: length -| size, count: Int(size))
        }
        addFragments(of: FragmentRandomAccess.tables(found.bytes.span, at: found.offset), from: first)
        return nil
    }

    /// Adds all fragments of a table except the last one, whose duration is read from the fragment itself.
    private mutating func addFragments(of tables: [FragmentRandomAccess], from first: Int64) {
        guard let leadingTrack, let table = tables.first(where: { $0.trackID == leadingTrack.id }) else { return }
        var entries: [FragmentRandomAccess.Entry] = []
        for entry in table.entries where entry.fragmentOffset >= first {
            guard let last = entries.last else {
                entries.append(entry)
                continue
            }
            if entry.fragmentOffset > last.fragmentOffset, entry.time > last.time { entries.append(entry) }
        }
        guard let first = entries.first, first.fragmentOffset == position, entries.count > 1 else { return }
        var start = fragmentStart ?? position
        for (entry, next) in zip(entries, entries.dropFirst()) {
            segmentBuilder.appendFragment(
                MediaTimeRange(
                    start: .units(entry.time, per: leadingTrack.timescale),
                    end: .units(next.time, per: leadingTrack.timescale)
                ),
                from: start,
                to: next.fragmentOffset,
                canStartSegment: true
            )
            start = next.fragmentOffset
            position = start
        }
        fragmentStart = nil
    }
}

// MARK: Timeline

extension MovieFileReader {
    func makeTimeline(from file: LoadedFileParts) -> MediaFileTimeline {
        var timeline = MediaFileTimeline(wholeFile: .isoBaseMedia, length: file.length)
        timeline.error = movie == nil ? missingMovieError(in: file) : problem
        guard let movie else { return timeline }
        timeline.tracks = movie.tracks.map(\.mediaTrack)
        timeline.metadata = metadata
        timeline.sizeProblem = sizeProblem ?? unreadSizeProblem(in: file)
        timeline.initializationRange = initialization
        if segmentBuilder.isEmpty {
            timeline.isProgressive = !movie.isFragmented || !progressiveSegments.isEmpty
            timeline.duration = movie.sampleEndTime ?? movie.duration ?? movie.fragmentedDuration
            if !progressiveSegments.isEmpty {
                timeline.segments = progressiveSegments
            } else if let duration = timeline.duration {
                timeline.segments =
                    MediaFileTimeline(wholeFile: .isoBaseMedia, length: file.length, duration: duration).segments
            }
            return timeline
        }
        var gathering = segmentBuilder
        let rest = addUnreadFragments(file, &gathering)
        let (segments, start) = gathering.makeSegments()
        timeline.segments = segments
        timeline.duration = segments.last?.timeRange.end
        timeline.firstTimestamp = isIndexed ? start : start + (leadingTrack?.firstEdit?.offset ?? .zero)
        timeline.isDurationEstimated = rest
        if !isIndexed || !indexes.coversFile { timeline.missingLengthAccuracy = .minimum }
        addMissingFragments(to: &timeline, file)
        return timeline
    }

    /// The duration after the last fragment from which the fragments that the movie declares are missing; a shorter one
    /// results from edit lists and from tracks that end at different times.
    private static let minimumMissingDuration = MediaTime(value: 1, timescale: 2)

    /// Adds the fragments that follow the one within which the file ends, if the movie declares a duration (`mehd`).
    ///
    /// A recording can end after each of its fragments, with a duration that was declared before.
    private func addMissingFragments(to timeline: inout MediaFileTimeline, _ file: LoadedFileParts) {
        guard let declared = movie?.fragmentedDuration, let length = file.length,
            let first = timeline.segments.first, let last = timeline.segments.last, last.byteRange.end > length,
            declared - last.timeRange.end > Self.minimumMissingDuration
        else { return }
        let bytesPerSecond =
            Double(last.byteRange.end -| first.byteRange.start) / max(0.001, last.timeRange.end.seconds)
        let missing = bytesPerSecond * (declared - last.timeRange.end).seconds
        timeline.duration = declared
        timeline.addMissingEnd(
            from: last.timeRange.end,
            length: max(1, Int64(saturating: missing.rounded())),
            .estimated
        )
    }

    /// Returns a clause about the first box after a movie box that lists all samples, if its size is impossible.
    ///
    /// The boxes are not required, so that only those whose headers were loaded with others are examined.
    private func unreadSizeProblem(in file: LoadedFileParts) -> String? {
        guard isFinished else { return nil }
        var offset = position
        for _ in 0..<Self.maximumUnreadBoxCount {
            guard !file.ends(at: offset), let found = file.loadedBytes(at: offset, count: 32), found.count >= 8 else {
                return nil
            }
            guard let box = BoxHeader(found.bytes.span, at: found.offset) else { return Self.invalidSize(at: offset) }
            if let problem = box.sizeProblem(at: offset, inFileOfLength: file.length) { return problem }
            guard let length = box.length else { return nil }
            offset +|= length
        }
        return nil
    }

    private static func invalidSize(at position: Int64) -> String { "the box at byte \(position) has an invalid size" }

    /// Returns the error of a file without a movie box, which can follow the media and be cut off.
    ///
    /// A recorder writes the size of the media and the movie box at its end. Until then, the size is 0, so that the media
    /// extends to the end of the file, or that of an empty box, so that the media is read as boxes.
    private func missingMovieError(in file: LoadedFileParts) -> MediaFormatError {
        if let problem, problem != .malformed("box") || !lacksOnlyMovie { return problem }
        if let length = file.length, position > length, !isMediaUnsized { return .truncated("moov") }
        return lacksOnlyMovie ? .unfinished("moov") : .missing("moov")
    }

    /// Adds the unread rest of the file as a single fragment, and returns whether there is any.
    ///
    /// Its duration is the rest of the movie's duration, or an estimate from the bit rate.
    private func addUnreadFragments(_ file: LoadedFileParts, _ builder: inout MediaFileSegmentBuilder) -> Bool {
        guard let length = file.length, position < length, let end = builder.timeEnd else { return false }
        let (segments, start) = builder.makeSegments()
        guard let first = segments.first else { return false }
        let walked = (position -| first.byteRange.start, (end - start).seconds)
        var rest = movie?.fragmentedDuration ?? movie?.duration ?? .zero
        rest = max(.zero, rest - (end - start))
        if rest == .zero, walked.0 > 0 {
            let seconds = walked.1 / Double(walked.0) * Double(length -| position)
            rest = MediaTime(approximating: seconds) ?? .zero
        }
        builder.appendFragment(
            MediaTimeRange(start: end, duration: rest),
            from: position,
            to: length,
            canStartSegment: true
        )
        return true
    }
}
