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
        let (movie, end) = try Self.movie(bytes)
        self.movie = movie
        let header = Self.header(UnsafeRawBufferPointer(rebasing: bytes[..<end]), of: movie)
        let reader = try header.withUnsafeBytes { bytes in
            Result { () throws(DecodingError) in
                // All of it is read here.
                try ContainerReader(MediaInput([bytes]), format: .isoBaseMedia, isHeader: true)
            }
        }.get()
        for stream in reader.streams {
            guard let id = UInt32(exactly: stream.pointee.id), let parameters = stream.pointee.codecpar,
                let track = movie.track(id), tracks[id] == nil
            else { continue }
            var format = TrackFormat(
                id: Int(id),
                // FFmpeg takes timed text in XML for data.
                kind: track.kind == .text ? .text : MediaTrack.Kind(parameters.pointee.codec_type),
                timeBase: AVRational(num: 1, den: Int32(clamping: max(1, track.timescale))),
                parameters: try CodecParameters(copying: parameters)
            )
            let summary = track.summary
            if let codec = summary.codec { format.codec = codec }
            format.language = summary.language ?? ContainerReader.language(stream)
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
        for box in BoxPlace.all(bytes, in: 0..<bytes.count) where box.type == .box("moov") {
            do throws(MediaFormatError) {
                return (try Movie(bytes.bindMemory(to: UInt8.self).span, at: box.start), box.payload.upperBound)
            } catch {
                throw DecodingError(.notReadable, "the initialization cannot be read: \(error)")
            }
        }
        throw DecodingError(.notReadable, "the initialization has no moov")
    }

    /// The header of a movie, without its sample tables where those declare more samples than it has bytes.
    ///
    /// FFmpeg makes an index of all samples, and only the configuration of the tracks is asked of it.
    private static func header(_ bytes: UnsafeRawBufferPointer, of movie: Movie) -> [UInt8] {
        var header = Array(bytes)
        guard movie.indexEntryCount(header.span) > max(4_096, Int64(bytes.count)) else { return header }
        for place in sampleTables(in: bytes, range: 0..<bytes.count, level: 0) {
            header.replaceSubrange(place + 4..<place + 8, with: Array("free".utf8))
        }
        return header
    }

    private static let levels: [UInt32] = [.box("moov"), .box("trak"), .box("mdia"), .box("minf"), .box("stbl")]
    private static let tables: [UInt32] = [
        .box("stts"), .box("ctts"), .box("cslg"), .box("stsc"), .box("stsz"), .box("stz2"), .box("stco"), .box("co64"),
        .box("stss"),
    ]

    /// The offsets of the boxes of sample tables.
    private static func sampleTables(in bytes: UnsafeRawBufferPointer, range: Range<Int>, level: Int) -> [Int] {
        BoxPlace.all(bytes, in: range).flatMap { box -> [Int] in
            guard level < levels.count else { return tables.contains(box.type) ? [box.start] : [] }
            return box.type == levels[level] ? sampleTables(in: bytes, range: box.payload, level: level + 1) : []
        }
    }
}
