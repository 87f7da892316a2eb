package import HLSPlaylist
package import ReportFormat

/// A media playlist of a translation, with its file name.
package struct TranslatedPlaylist: Sendable {
    /// The name of the file, to which the multivariant playlist refers.
    package let fileName: String
    /// The track that the playlist describes.
    package let track: TrackDescriptor
    /// The playlist; its segments have the URLs of the presentation.
    package let playlist: MediaPlaylist
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
                        "segments": .integer(Int64(clamping: entry.playlist.segments.count)),
                        "duration": .seconds(entry.playlist.duration),
                    ])
                }
            ),
            "losses": .array(losses.map(\.report)),
        ])
    }
}
