import MediaTiming

/// A reader of the top-level boxes of an ISO base media file.
///
/// A segment index (`sidx`) or the fragment table at the end (`mfra`) makes it unnecessary to read each fragment's
/// header.
struct MovieFileReading: FileReading {
    private var position: Int64 = 0
    private var boxCount = 0
    private var isFinished = false
    private var movie: Movie?
    private var initialization: ByteRange?
    private var leading: Movie.Track?
    private var progressive: [MediaFilePiece] = []
    /// The offset of the first box that precedes the next fragment and belongs to it, such as `styp` or `emsg`.
    private var fragmentStart: Int64?
    private var indexes = SegmentIndexWalk()
    private var gathering: PieceGathering
    private var tail = Tail.unknown
    /// A Boolean value that indicates whether the times are from a segment index.
    ///
    /// Those times have the edit list applied (ISO/IEC 14496-12 §8.16.3.3).
    private var isIndexed = false
    private var problem: MediaFormatError?
    private let pieceDuration: MediaTime

    /// The state of reading the fragment table at the end of the file.
    private enum Tail {
        case unknown
        case table(Int64)
        case settled
    }

    /// The maximum number of top-level boxes that are read.
    private static let mostBoxes = 200_000
    /// The number of bytes per request; enough for a box header and for a typical `moof` box.
    private static let stepBytes = 4_096
    private static let mostMovieFragmentBytes: Int64 = 16 << 20

    init(_ pieceDuration: MediaTime) {
        self.pieceDuration = pieceDuration
        gathering = PieceGathering(pieceDuration)
    }

    mutating func step(_ file: FileBytes) -> MediaFileIndex.State {
        while true {
            if let needed = indexes.advance(file, &gathering) { return needed }
            if let end = indexes.takeEnd() { position = max(position, end) }
            if case .table = tail, let needed = readTail(file) { return needed }
            guard !file.ends(at: position), boxCount < Self.mostBoxes, !isFinished, problem == nil else { break }
            guard let found = file.found(at: position, 32) else {
                return file.request(position, nextRequestBytes(file))
            }
            guard found.count > 0 else { break }
            guard let box = BoxHeader(found.bytes.span, at: found.offset) else {
                problem = .malformed("box")
                break
            }
            boxCount += 1
            if let needed = take(box, file) { return needed }
        }
        return .ready(settle(file))
    }

    /// Returns the number of bytes to request at the current position.
    ///
    /// After the samples of a progressive file there is usually only the movie box, so the rest is loaded in one
    /// request.
    private func nextRequestBytes(_ file: FileBytes) -> Int {
        guard movie == nil, let length = file.length, length -| position <= 4 << 20 else { return Self.stepBytes }
        return Int(max(32, length -| position))
    }

    /// Reads the box at ``position`` and advances to its end; returns a request if more bytes are required.
    private mutating func take(_ box: BoxHeader, _ file: FileBytes) -> MediaFileIndex.State? {
        let end = box.length.map { position.addingSaturated($0) } ?? file.length ?? .max
        switch box.type {
        case .moov:
            guard movie == nil else { break }
            return whole(box, file, most: Int64(MediaFileIndex.mostRequestBytes)) { reading, found in
                reading.readMovie(found, end)
            }
        case .sidx:
            guard movie != nil else { break }
            return whole(box, file, most: 1 << 20) { reading, found in reading.readIndex(found, end) }
        case .moof:
            guard movie != nil else { break }
            if case .unknown = tail, indexes.isEmpty, !file.isWhole, file.length != nil {
                tail = .table(position)
                return readTail(file)
            }
            if startIndexes() { return nil }
            return whole(box, file, most: Self.mostMovieFragmentBytes) { reading, found in
                reading.readFragment(found, end)
            }
        case .mdat:
            if startIndexes() { return nil }
            if !gathering.isEmpty { gathering.extend(to: min(end, file.length ?? end)) }
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

    /// Calls `body` with all bytes of a box, or returns a request for them; sets a problem if the box is too large.
    private mutating func whole(
        _ box: BoxHeader,
        _ file: FileBytes,
        most: Int64,
        _ body: (inout Self, FileBytes.Found) -> Void
    ) -> MediaFileIndex.State? {
        let length = box.length ?? (file.length ?? .max).subtractingSaturated(position)
        guard length <= most else {
            problem = .tooLarge(box.type.description)
            return nil
        }
        guard let found = file.found(at: position, Int(length)) else { return file.request(position, Int(length)) }
        body(&self, found)
        return nil
    }
}

// MARK: Boxes

extension MovieFileReading {
    private mutating func readMovie(_ found: FileBytes.Found, _ end: Int64) {
        defer { position = end }
        do throws(MediaFormatError) {
            let movie = try Movie(found.bytes.span, at: found.offset)
            self.movie = movie
            leading =
                movie.tracks.first { $0.kind == .video } ?? movie.tracks.first { $0.kind == .audio }
                ?? movie.tracks.first
            // If the movie box is at the start of the file, the preceding brands belong to the initialization section.
            let start = movie.isFragmented || boxCount < 8 && position < 4_096 ? 0 : position
            initialization = ByteRange(start: start, length: end -| start)
            progressive = movie.pieces(of: pieceDuration, in: found.bytes.span)
            // If a fragmented file has samples in the movie box itself, its fragments are not read.
            if !progressive.isEmpty || !movie.isFragmented { isFinished = true }
        } catch {
            problem = error
        }
    }

    private mutating func readIndex(_ found: FileBytes.Found, _ end: Int64) {
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
        guard indexes.start(for: leading?.id, beginningAt: fragmentStart) else { return false }
        tail = .settled
        fragmentStart = nil
        isIndexed = true
        return true
    }

    private mutating func readFragment(_ found: FileBytes.Found, _ end: Int64) {
        defer { position = end }
        let start = fragmentStart ?? position
        guard let leading else { return }
        let fragment = try? MovieFragment(
            found.bytes.span,
            at: found.offset,
            fileOffset: position -| Int64(found.offset),
            movie: movie
        )
        guard let track = fragment?.track(leading.id), let duration = track.duration else {
            // A fragment of other tracks belongs to the previous fragment; at the start of the file, to the next one.
            if gathering.isEmpty { fragmentStart = start } else { gathering.extend(to: end) }
            return
        }
        gathering.add(
            MediaTimeRange(start: track.presentationTime ?? gathering.timeEnd ?? .zero, duration: duration),
            from: start,
            to: end,
            canBegin: track.isFirstSampleSync != false
        )
    }

    /// Looks for the fragment table at the end of the file; returns a request if more bytes are required.
    private mutating func readTail(_ file: FileBytes) -> MediaFileIndex.State? {
        guard case .table(let first) = tail, let length = file.length, length > 16 else { return nil }
        let usual = min(length, 32_768)
        guard let last = file.found(at: length -| 16, 16) else { return file.request(length -| usual, Int(usual)) }
        tail = .settled
        let size = Int64(FragmentRandomAccess.size(atEndOf: last.bytes.span) ?? 0)
        guard size >= 24, size < length -| first, size <= Self.mostMovieFragmentBytes else { return nil }
        guard let found = file.found(at: length -| size, Int(size)) else {
            tail = .table(first)
            return file.request(length -| size, Int(size))
        }
        take(FragmentRandomAccess.tables(found.bytes.span, at: found.offset), first)
        return nil
    }

    /// Adds all fragments of a table except the last one, whose duration is read from the fragment itself.
    private mutating func take(_ tables: [FragmentRandomAccess], _ first: Int64) {
        guard let leading, let table = tables.first(where: { $0.trackID == leading.id }) else { return }
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
            gathering.add(
                MediaTimeRange(
                    start: .units(entry.time, per: leading.timescale),
                    end: .units(next.time, per: leading.timescale)
                ),
                from: start,
                to: next.fragmentOffset,
                canBegin: true
            )
            start = next.fragmentOffset
            position = start
        }
        fragmentStart = nil
    }
}

// MARK: Timeline

extension MovieFileReading {
    func settle(_ file: FileBytes) -> MediaFileTimeline {
        var timeline = MediaFileTimeline(wholeFile: .isoBaseMedia, length: file.length)
        timeline.problem = problem ?? (movie == nil ? .missing("moov") : nil)
        guard let movie else { return timeline }
        timeline.tracks = movie.tracks.map(\.summary)
        timeline.initialization = initialization
        if gathering.isEmpty {
            timeline.isProgressive = !movie.isFragmented || !progressive.isEmpty
            timeline.duration = movie.sampledDuration ?? movie.duration ?? movie.fragmentedDuration
            if !progressive.isEmpty {
                timeline.pieces = progressive
            } else if let duration = timeline.duration {
                timeline.pieces =
                    MediaFileTimeline(wholeFile: .isoBaseMedia, length: file.length, duration: duration).pieces
            }
            return timeline
        }
        var gathering = gathering
        let rest = addRest(file, &gathering)
        let (pieces, start) = gathering.pieces()
        timeline.pieces = pieces
        timeline.duration = pieces.last?.timeRange.end
        timeline.firstTimestamp = isIndexed ? start : start + (leading?.edit?.offset ?? .zero)
        timeline.isDurationEstimated = rest
        return timeline
    }

    /// Adds the unread rest of the file as a single fragment, and returns whether there is any.
    ///
    /// Its duration is the rest of the movie's duration, or an estimate from the bit rate.
    private func addRest(_ file: FileBytes, _ gathering: inout PieceGathering) -> Bool {
        guard let length = file.length, position < length, let end = gathering.timeEnd else { return false }
        let (pieces, start) = gathering.pieces()
        guard let first = pieces.first else { return false }
        let walked = (position -| first.byteRange.start, (end - start).seconds)
        var rest = movie?.fragmentedDuration ?? movie?.duration ?? .zero
        rest = max(.zero, rest - (end - start))
        if rest == .zero, walked.0 > 0 {
            let seconds = walked.1 / Double(walked.0) * Double(length -| position)
            rest = MediaTime(approximating: seconds) ?? .zero
        }
        gathering.add(MediaTimeRange(start: end, duration: rest), from: position, to: length, canBegin: true)
        return true
    }
}
