package import MediaTiming

/// A movie box, `moov`: the header of an MP4 file or the initialization section of its fragments (ISO/IEC 14496-12
/// §8.2).
package struct Movie: Sendable, Hashable {
    /// The timescale of the movie's timeline, in units per second.
    package let timescale: UInt32
    /// The duration in the movie header (`mvhd`); `nil` if it is zero or unknown, as in initialization sections.
    package let duration: MediaTime?
    /// The duration of the movie including all fragments (`mehd`); `nil` if the box is missing.
    package let fragmentedDuration: MediaTime?
    /// A Boolean value that indicates whether movie fragments may follow (`mvex`).
    package let isFragmented: Bool
    /// The tracks in the order of the file; at most ``maximumTrackCount``.
    package let tracks: [Track]

    /// The maximum number of tracks; a movie with more is rejected.
    package static let maximumTrackCount = 128

    /// The default values for the samples of a track's fragments (`trex`).
    package struct FragmentDefaults: Sendable, Hashable {
        /// The default duration of a sample, in units of the track's timescale.
        package let sampleDuration: UInt32
        /// The default size of a sample, in bytes.
        package let sampleSize: UInt32
        /// The default flags of a sample (§8.8.3.1).
        package let sampleFlags: UInt32
    }

    /// Returns the track with the given track ID, or `nil` if there is none.
    package func track(_ id: UInt32) -> Track? { tracks.first { $0.id == id } }

    /// Creates a movie from the `moov` box at `offset`.
    ///
    /// Unknown boxes are skipped, and tracks without a valid header are omitted. Throws ``MediaFormatError`` if there
    /// is no complete `moov` box at the offset, its `mvhd` is missing or invalid, or it has more than ``maximumTrackCount``
    /// tracks. The ranges of sample tables are relative to the start of `bytes`.
    package init(_ bytes: Span<UInt8>, at offset: Int = 0) throws(MediaFormatError) {
        var walker = BoxIterator(max(0, offset)..<max(0, offset, bytes.count), in: bytes)
        guard let box = walker.next(bytes), box.type == .moov else { throw .missing("moov") }
        guard !box.isTruncated else { throw .truncated("moov") }
        guard let header = box.firstChild(.mvhd, in: bytes) else { throw .missing("mvhd") }
        let (timescale, duration) = Self.timing(header, bytes)
        guard timescale > 0 else { throw .malformed("timescale of mvhd") }
        self.timescale = timescale
        self.duration = duration.map { .units($0, per: timescale) }

        let extends = box.firstChild(.mvex, in: bytes)
        isFragmented = extends != nil
        fragmentedDuration = extends?.firstChild(.mehd, in: bytes).flatMap { box in
            var (version, _, cursor) = box.fullBoxFields(in: bytes)
            let units = cursor.readUnsigned(version == 0 ? 4 : 8, bytes)
            return cursor.isPastEnd || units == 0 ? nil : .units(units, per: timescale)
        }
        let defaults = extends.map { Self.fragmentDefaults($0, bytes) } ?? [:]

        var tracks: [Track] = []
        var children = BoxIterator(box.payload, in: bytes)
        while let child = children.next(bytes) {
            guard child.type == .trak else { continue }
            guard tracks.count < Self.maximumTrackCount else { throw .tooLarge("moov") }
            if let track = Track(child, movieTimescale: timescale, defaults: defaults, bytes) { tracks.append(track) }
        }
        self.tracks = tracks
    }

    /// Returns an upper bound on the number of index entries that a demultiplexer creates for the movie's sample
    /// tables.
    ///
    /// The bound is needed because a few bytes can declare billions of samples of equal size, and edit lists repeat
    /// samples.
    ///
    /// - Parameter bytes: The bytes from which the movie was read.
    /// - Returns: The number of entries; it saturates at `Int64.max`.
    package func indexEntryCount(_ bytes: Span<UInt8>) -> Int64 {
        tracks.reduce(0) { sum, track in
            // A demultiplexer may list all samples once more for each edit.
            let count = track.sampleTable?.indexEntryCount(isAudio: track.mediaType == .audio, bytes) ?? 0
            return sum.addingSaturated(count.multipliedSaturated(by: Int64(max(1, track.editCount))))
        }
    }

    /// Returns the timescale and duration of `mvhd` or `mdhd`; a duration of zero or all ones is returned as `nil`.
    static func timing(_ box: Box, _ bytes: Span<UInt8>) -> (timescale: UInt32, duration: UInt64?) {
        var (version, _, cursor) = box.fullBoxFields(in: bytes)
        let width = version == 1 ? 8 : 4
        cursor.skip(2 *| width)
        let timescale = cursor.readUInt32(bytes)
        let duration = cursor.readUnsigned(width, bytes)
        let unknown: UInt64 = width == 8 ? .max : UInt64(UInt32.max)
        guard !cursor.isPastEnd, duration != 0, duration != unknown else { return (timescale, nil) }
        return (timescale, duration)
    }

    private static func fragmentDefaults(_ box: Box, _ bytes: Span<UInt8>) -> [UInt32: FragmentDefaults] {
        var found: [UInt32: FragmentDefaults] = [:]
        var walker = BoxIterator(box.payload, in: bytes)
        while let child = walker.next(bytes), found.count < maximumTrackCount {
            guard child.type == .trex else { continue }
            var (_, _, cursor) = child.fullBoxFields(in: bytes)
            let id = cursor.readUInt32(bytes)
            cursor.skip(4)
            let defaults = FragmentDefaults(
                sampleDuration: cursor.readUInt32(bytes),
                sampleSize: cursor.readUInt32(bytes),
                sampleFlags: cursor.readUInt32(bytes)
            )
            if !cursor.isPastEnd { found[id] = defaults }
        }
        return found
    }
}
