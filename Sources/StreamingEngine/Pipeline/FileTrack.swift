import MediaTiming
package import SegmentFormat

/// The identification of a track within a media file, which its segments share.
package enum FileTrack: Sendable, Hashable {
    /// The track ID in an ISO base media file, or the packet identifier (PID) in a transport stream.
    case id(Int)
    /// The number of tracks of the same media type before it, in containers whose segments do not tell the numbers of
    /// their tracks, such as Matroska.
    case position(Int)

    /// Creates the identification of a track.
    ///
    /// - Parameters:
    ///   - id: The identifier of the track in its container.
    ///   - position: The number of tracks of the same media type before it.
    ///   - container: The container format.
    package init(id: Int, position: Int, in container: MediaContainer?) {
        let hasIdentifiers = container == .isoBaseMedia || container == .transportStream
        self = hasIdentifiers ? .id(id) : .position(position)
    }

    /// Returns the track among those of a file; `nil` if the file does not have it.
    package func track(in tracks: [MediaTrack], of type: MediaTrack.MediaType) -> MediaTrack? {
        let tracks = tracks.filter { $0.mediaType == type }
        switch self {
        case .id(let id): return tracks.first { Int(clamping: $0.id) == id }
        case .position(let position): return tracks.indices.contains(position) ? tracks[position] : nil
        }
    }
}
