public import MediaTiming

/// A movie box, `moov`: the header of an MP4 file or the initialization section of its fragments
/// (ISO/IEC 14496-12 §8.2).
public struct Movie: Sendable, Hashable {
    /// Units a second of the movie's own timeline.
    public let timescale: UInt32
    /// How long the movie says it is; `nil` where it does not say, as in initialization sections.
    public let duration: MediaTime?
    /// How long all fragments together say they are (`mehd`); `nil` where it is not said.
    public let fragmentedDuration: MediaTime?
    /// Whether movie fragments follow (`mvex`).
    public let isFragmented: Bool
    /// The tracks, in order; at most ``mostTracks``.
    public let tracks: [Track]

    /// More tracks than this are not read.
    public static let mostTracks = 128

    /// What fragments of a track take where they say nothing themselves (`trex`).
    public struct FragmentDefaults: Sendable, Hashable {
        /// How long a sample is, in units of the track.
        public let sampleDuration: UInt32
        /// How many bytes a sample has.
        public let sampleSize: UInt32
        /// Flags of a sample (§8.8.3.1).
        public let sampleFlags: UInt32
    }

    /// The track with this identifier.
    public func track(_ id: UInt32) -> Track? { tracks.first { $0.id == id } }

    /// Reads the box at a place.
    ///
    /// Unknown boxes are passed over; a track without its header is left out. Throws ``MediaFormatError`` where no whole
    /// `moov` stands there or its own header is missing.
    /// The ranges of sample tables are places in `bytes`.
    public init(_ bytes: Span<UInt8>, at offset: Int = 0) throws(MediaFormatError) {
        var walker = BoxWalker(max(0, offset)..<max(0, offset, bytes.count), in: bytes)
        guard let box = walker.next(bytes), box.type == .moov else { throw .missing("moov") }
        guard !box.isCut else { throw .truncated("moov") }
        guard let header = box.child(.mvhd, bytes) else { throw .missing("mvhd") }
        let (timescale, duration) = Self.timing(header, bytes)
        guard timescale > 0 else { throw .malformed("timescale of mvhd") }
        self.timescale = timescale
        self.duration = duration.map { .units($0, per: timescale) }

        let extends = box.child(.mvex, bytes)
        isFragmented = extends != nil
        fragmentedDuration = extends?.child(.mehd, bytes).flatMap { box in
            var (version, _, cursor) = box.fields(bytes)
            let units = cursor.unsigned(version == 0 ? 4 : 8, bytes)
            return cursor.isPastEnd || units == 0 ? nil : .units(units, per: timescale)
        }
        let defaults = extends.map { Self.fragmentDefaults($0, bytes) } ?? [:]

        var tracks: [Track] = []
        var children = BoxWalker(box.payload, in: bytes)
        while let child = children.next(bytes) {
            guard child.type == .trak else { continue }
            guard tracks.count < Self.mostTracks else { throw .tooLarge("moov") }
            if let track = Track(child, movieTimescale: timescale, defaults: defaults, bytes) { tracks.append(track) }
        }
        self.tracks = tracks
    }

    /// Computes an upper bound on the number of entries that a demultiplexer keeps for the sample tables of the movie.
    ///
    /// Few bytes can declare billions of samples of one size, and edit lists repeat samples.
    ///
    /// - Parameter bytes: The bytes that the movie was read from.
    /// - Returns: The number, saturated.
    public func indexEntryCount(_ bytes: Span<UInt8>) -> Int64 {
        tracks.reduce(0) { sum, track in
            // Each edit may show all samples once more.
            let count = track.sampleTable?.indexEntryCount(isAudio: track.kind == .audio, bytes) ?? 0
            return sum.addingSaturated(count.multipliedSaturated(by: Int64(max(1, track.editCount))))
        }
    }

    /// The timescale and duration of `mvhd` or `mdhd`, which begin alike; a duration of zero or all ones is none.
    static func timing(_ box: Box, _ bytes: Span<UInt8>) -> (timescale: UInt32, duration: UInt64?) {
        var (version, _, cursor) = box.fields(bytes)
        let width = version == 1 ? 8 : 4
        cursor.skip(2 *| width)
        let timescale = cursor.uint32(bytes)
        let duration = cursor.unsigned(width, bytes)
        let unknown: UInt64 = width == 8 ? .max : UInt64(UInt32.max)
        guard !cursor.isPastEnd, duration != 0, duration != unknown else { return (timescale, nil) }
        return (timescale, duration)
    }

    private static func fragmentDefaults(_ box: Box, _ bytes: Span<UInt8>) -> [UInt32: FragmentDefaults] {
        var found: [UInt32: FragmentDefaults] = [:]
        var walker = BoxWalker(box.payload, in: bytes)
        while let child = walker.next(bytes), found.count < mostTracks {
            guard child.type == .trex else { continue }
            var (_, _, cursor) = child.fields(bytes)
            let id = cursor.uint32(bytes)
            cursor.skip(4)
            let defaults = FragmentDefaults(
                sampleDuration: cursor.uint32(bytes),
                sampleSize: cursor.uint32(bytes),
                sampleFlags: cursor.uint32(bytes)
            )
            if !cursor.isPastEnd { found[id] = defaults }
        }
        return found
    }
}
