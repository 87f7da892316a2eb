import CFFmpeg
import MediaTiming
import SegmentFormat

/// What the header of a movie says: read once for all its segments or pieces.
struct MovieInitialization {
    struct Track {
        var format: TrackFormat
        let timescale: Int64
        let defaults: Movie.FragmentDefaults?
        /// What to add to a media time for its place on the movie's timeline, in units of the track.
        let editOffset: Int64
        let protection: SampleProtection?
    }

    let movie: Movie
    private(set) var tracks: [UInt32: Track] = [:]
    /// In the order of the header.
    private(set) var order: [UInt32] = []

    /// Reads `ftyp` and `moov`; what follows is ignored.
    init(_ bytes: UnsafeRawBufferPointer) throws(DecodingError) {
        let (movie, end) = unsafe try Self.movie(bytes)
        self.movie = movie
        let header = unsafe Self.header(UnsafeRawBufferPointer(rebasing: bytes[..<end]), of: movie)
        let reader = try unsafe header.withUnsafeBytes { bytes in
            Result { () throws(DecodingError) in
                // All of it is read here.
                try unsafe ContainerReader(MediaInput([bytes]), format: .isoBaseMedia, isHeader: true)
            }
        }.get()
        let streams = unsafe reader.streams
        for index in unsafe streams.indices {
            let stream = unsafe streams[index]
            guard let id = unsafe UInt32(exactly: stream.pointee.id), let parameters = unsafe stream.pointee.codecpar,
                let track = movie.track(id), tracks[id] == nil
            else { continue }
            var format = unsafe TrackFormat(
                id: Int(id),
                // FFmpeg takes timed text in XML for data.
                kind: track.kind == .text ? .text : MediaTrack.Kind(parameters.pointee.codec_type),
                timeBase: AVRational(num: 1, den: Int32(clamping: max(1, track.timescale))),
                parameters: try CodecParameters(copying: parameters)
            )
            let summary = track.summary
            if let codec = summary.codec { format.codec = codec }
            format.language = unsafe summary.language ?? ContainerReader.language(stream)
            if format.sampleRate == 0 { format.sampleRate = summary.sampleRate ?? 0 }
            if format.channelCount == 0 { format.channelCount = summary.channelCount ?? 0 }
            format.encryptionScheme = summary.encryptionScheme
            order.append(id)
            tracks[id] = Track(
                format: format,
                timescale: Int64(max(1, track.timescale)),
                defaults: track.fragmentDefaults,
                editOffset: track.edit.map { $0.offset.units(in: format.timeBase) } ?? 0,
                protection: track.sampleEntries.first?.protection
            )
        }
        guard !tracks.isEmpty else { throw DecodingError(.notReadable, "the initialization names no track") }
    }

    /// Whether it says where samples lie, as that of a file without fragments does.
    var hasSamples: Bool { movie.tracks.contains { ($0.sampleTable?.sampleCount ?? 0) > 0 } }

    static func movie(_ bytes: UnsafeRawBufferPointer) throws(DecodingError) -> (Movie, end: Int) {
        let bytes = unsafe bytes.bindMemory(to: UInt8.self).span
        guard let box = Box.first(.moov, in: bytes) else {
            throw DecodingError(.notReadable, "the initialization has no moov")
        }
        do throws(MediaFormatError) {
            return (try Movie(bytes, at: box.range.lowerBound), box.range.upperBound)
        } catch {
            throw DecodingError(.notReadable, "the initialization cannot be read: \(error)")
        }
    }

    /// The header of a movie, without its sample tables where those declare more samples than it has bytes.
    ///
    /// FFmpeg makes an index of all samples, and only the configuration of the tracks is asked of it.
    private static func header(_ bytes: UnsafeRawBufferPointer, of movie: Movie) -> [UInt8] {
        var header = unsafe Array(bytes)
        guard movie.indexEntryCount(header.span) > max(4_096, Int64(bytes.count)) else { return header }
        for place in sampleTables(in: header.span, range: 0..<header.count, level: 0) {
            header.replaceSubrange(place + 4..<place + 8, with: Array("free".utf8))
        }
        return header
    }

    private static let levels: [FourCharacterCode] = [.moov, .trak, .mdia, .minf, .stbl]
    private static let tables: [FourCharacterCode] = [
        .stts, .ctts, .cslg, .stsc, .stsz, .stz2, .stco, .co64, .stss,
    ]

    /// The offsets of the boxes of sample tables.
    private static func sampleTables(in bytes: Span<UInt8>, range: Range<Int>, level: Int) -> [Int] {
        var offsets: [Int] = []
        var boxes = BoxWalker(range, in: bytes)
        while let box = boxes.next(bytes) {
            if level == levels.count {
                if tables.contains(box.type) { offsets.append(box.range.lowerBound) }
            } else if box.type == levels[level] {
                offsets += sampleTables(in: bytes, range: box.payload, level: level + 1)
            }
        }
        return offsets
    }
}
