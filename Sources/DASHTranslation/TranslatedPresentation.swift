package import HLSPlaylist
package import MediaTiming
package import ReportFormat

/// A media playlist of a translation, with its file name.
package struct TranslatedPlaylist: Sendable {
    /// The name of the file, to which the multivariant playlist refers.
    package var fileName: String { track.fileName }
    /// The track that the playlist describes.
    package let track: TrackDescriptor
    /// The text of the playlist; its segments have the URLs of the presentation.
    package let bytes: [UInt8]
    /// The number of segments.
    package let segmentCount: Int
    /// The sum of the durations of all segments.
    package let duration: MediaTime
    /// A Boolean value that indicates whether no segments will be added.
    package let hasEndMarker: Bool

    init(track: TrackDescriptor, _ output: MediaPlaylistWriter.Output, hasEndMarker: Bool) {
        self.track = track
        bytes = output.bytes
        segmentCount = output.segmentCount
        duration = output.duration
        self.hasEndMarker = hasEndMarker
    }

    /// The playlist, which is parsed at each access.
    ///
    /// - Throws: `PlaylistParsingError` if the text exceeds a limit of the parser.
    package var playlist: MediaPlaylist {
        get throws(PlaylistParsingError) { try MediaPlaylist(parsing: bytes) }
    }
}

/// The playlists of a presentation.
package struct TranslatedPresentation: Sendable {
    /// The file name of the multivariant playlist.
    package static let multivariantFileName = "multivariant.m3u8"

    /// The multivariant playlist, which refers to the media playlists by their file names.
    package let multivariant: MultivariantPlaylist
    /// The media playlists in the order of the representations.
    package let playlists: [TranslatedPlaylist]
    /// The parts of the presentation that the playlists do not describe.
    package let losses: [TranslationLoss]

    /// The translation as a report, which `millstream translate --json` prints; missing values are omitted.
    package var report: ReportValue {
        .fields([
            "multivariant": .string(Self.multivariantFileName),
            "playlists": .array(
                playlists.map { entry in
                    .fields([
                        "file": .string(entry.fileName),
                        "kind": .string(entry.track.kind.rawValue),
                        "representation": .string(entry.track.representationID),
                        "language": entry.track.language.map { .string($0) },
                        "bandwidth": .integer(entry.track.bandwidth),
                        "segments": .integer(Int64(clamping: entry.segmentCount)),
                        "duration": .seconds(entry.duration),
                    ])
                }
            ),
            "losses": .array(losses.map(\.report)),
        ])
    }
}
