import HLSPlaylist
import MediaTiming

/// A playlist that is played in breaks.
struct Advertisement {
    let playlist: MediaPlaylist
    /// The playlist with absolute URLs.
    let text: String
    /// The ends of the segments in microseconds from the start.
    private let ends: [Int64]

    /// Creates an advertisement from a playlist that was loaded.
    ///
    /// - Throws: ``PlaylistEditError/cannotStitch(reason:)`` if it is live or has no segments.
    init(_ playlist: MediaPlaylist, limits: PlaylistLimits) throws(PlaylistEditError) {
        guard !playlist.isLive, !playlist.segments.isEmpty, playlist.duration > .zero else {
            throw .cannotStitch(reason: "what is played in breaks must be a complete playlist with segments")
        }
        let absolute = try playlist.withoutLowLatency(limits: limits).withoutReferences(limits: limits)
        self.init(absolute, String(decoding: absolute.bytes, as: UTF8.self))
    }

    /// Creates an advertisement from the text in a timeline.
    init(_ text: String) throws(PlaylistEditError) {
        let playlist: MediaPlaylist
        do throws(PlaylistParsingError) {
            playlist = try MediaPlaylist(parsing: Array(text.utf8))
        } catch {
            throw PlaylistEditError(error, edit: "the stored break")
        }
        self.init(playlist, text)
    }

    private init(_ playlist: MediaPlaylist, _ text: String) {
        self.playlist = playlist
        self.text = text
        ends = playlist.segments.indices.map { playlist.segments.timeRange(at: $0).end.microseconds }
    }

    var count: Int { ends.count }
    var duration: Int64 { ends.last ?? 0 }

    /// Returns the time from the start to a segment.
    func start(of position: Int) -> Int64 { position > 0 ? ends[position - 1] : 0 }

    /// Returns the number of segments that end at or before a time.
    func count(endingBy time: Int64) -> Int { ends.partitioningIndex { $0 > time } }

    /// The time in microseconds by which an advertisement may be longer than what it replaces: dates of segments must not
    /// overlap by a second (RFC 8216bis §6.2.1).
    static let maximumOverlap: Int64 = 900_000

    /// Returns the number of segments that can be played in a period in place of others.
    func count(playableIn time: Int64) -> Int { count(endingBy: time +| Self.maximumOverlap) }

    /// Returns the number of discontinuities before a segment, other than one before the first segment.
    func discontinuityCount(before position: Int) -> Int64 {
        Int64((1..<max(1, position)).count { playlist.segments[$0].hasDiscontinuity })
    }
}
