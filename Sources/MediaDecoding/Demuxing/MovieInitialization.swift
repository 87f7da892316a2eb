import CFFmpeg
import MediaTiming
import SegmentFormat

/// The initialization of a movie, parsed once for all segments of the movie.
struct MovieInitialization {
    struct Track {
        var format: TrackFormat
        let timescale: Int64
        let defaults: Movie.FragmentDefaults?
        /// The offset from media time to the movie timeline, in units of the track timescale.
        let editOffset: Int64
        let protection: SampleProtection?
    }

    let movie: Movie
    private(set) var tracks: [UInt32: Track] = [:]
    /// The track identifiers in the order of the header.
    private(set) var trackOrder: [UInt32] = []

    /// Creates an initialization from `ftyp` and `moov`; bytes after them are ignored.
    init(_ bytes: UnsafeRawBufferPointer) throws(DecodingError) {
        let (movie, end) = unsafe try Self.movie(bytes)
        self.movie = movie
        let header = unsafe Self.header(UnsafeRawBufferPointer(rebasing: bytes[..<end]), of: movie)
        let reader = try unsafe header.withUnsafeBytes { bytes in
            Result { () throws(DecodingError) in
                // The reader reads all bytes before this closure returns.
                try unsafe ContainerReader(MediaInput([bytes]), format: .isoBaseMedia, isHeader: true)
            }
        }.get()
        let streams = unsafe reader.streams
        for index in unsafe streams.indices {
            let stream = unsafe streams[index]
            guard let id = unsafe UInt32(exactly: stream.pointee.id), let parameters = unsafe stream.pointee.codecpar,
                let track = movie.track(id), tracks[id] == nil, unsafe !ContainerReader.isAttachedImage(stream)
            else { continue }
            var format = unsafe TrackFormat(
                id: Int(id),
                // FFmpeg classifies timed text in XML as data.
                kind: track.mediaType == .subtitles ? .subtitles : MediaTrack.MediaType(parameters.pointee.codec_type),
                timeBase: AVRational(num: 1, den: Int32(clamping: max(1, track.timescale))),
                parameters: try CodecParameters(copying: parameters)
            )
            let summary = track.mediaTrack
            if let codec = summary.codec { format.codec = codec }
            format.language = unsafe summary.language ?? ContainerReader.language(stream)
            format.orientation = unsafe ContainerReader.orientation(stream)
            if format.sampleRate == 0 { format.sampleRate = summary.sampleRate ?? 0 }
            if format.channelCount == 0 { format.channelCount = summary.channelCount ?? 0 }
            format.encryptionScheme = summary.encryptionScheme
            trackOrder.append(id)
            tracks[id] = Track(
                format: format,
                timescale: Int64(max(1, track.timescale)),
                defaults: track.fragmentDefaults,
                editOffset: track.firstEdit.map { $0.offset.units(in: format.timeBase) } ?? 0,
                protection: track.sampleEntries.first?.protection
            )
        }
        guard !tracks.isEmpty else {
            throw DecodingError(status: .notReadable, operation: "the initialization declares no track")
        }
    }

    /// A Boolean value that indicates whether the header locates samples, as in a movie without fragments.
    var hasSamples: Bool { movie.tracks.contains { ($0.sampleTable?.sampleCount ?? 0) > 0 } }

    static func movie(_ bytes: UnsafeRawBufferPointer) throws(DecodingError) -> (Movie, end: Int) {
        let bytes = unsafe bytes.bindMemory(to: UInt8.self).span
        guard let box = Box.first(.moov, in: bytes) else {
            throw DecodingError(status: .notReadable, operation: "the initialization has no moov")
        }
        do throws(MediaFormatError) {
            return (try Movie(bytes, at: box.range.lowerBound), box.range.upperBound)
        } catch {
            throw DecodingError(status: .notReadable, operation: "the initialization cannot be read: \(error)")
        }
    }

    /// Returns the header of a movie, with the sample tables disabled if they declare more samples than the header has
    /// bytes and more than 4,096.
    ///
    /// FFmpeg builds an index of all samples, but only the configuration of the tracks is needed.
    private static func header(_ bytes: UnsafeRawBufferPointer, of movie: Movie) -> [UInt8] {
        var header = unsafe Array(bytes)
        guard movie.indexEntryCount(header.span) > max(4_096, Int64(bytes.count)) else { return header }
        for position in sampleTables(in: header.span, range: 0..<header.count, level: 0) {
            header.replaceSubrange(position + 4..<position + 8, with: Array("free".utf8))
        }
        return header
    }

    private static let levels: [FourCharacterCode] = [.moov, .trak, .mdia, .minf, .stbl]
    private static let tables: [FourCharacterCode] = [
        .stts, .ctts, .cslg, .stsc, .stsz, .stz2, .stco, .co64, .stss,
    ]

    /// Returns the offsets of the sample table boxes.
    private static func sampleTables(in bytes: Span<UInt8>, range: Range<Int>, level: Int) -> [Int] {
        var offsets: [Int] = []
        var boxes = BoxIterator(range, in: bytes)
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
