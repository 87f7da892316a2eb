package import StreamingEngine

/// A media playlist that is exported, with the properties of its tracks.
package struct ExportSource: Sendable {
    /// The tracks of a media playlist to export.
    package enum Contents: Sendable, Hashable {
        /// The video and the audio.
        case all
        /// The video only, because the audio is in other playlists.
        case video
        /// The audio only.
        case audio
        /// The subtitles.
        case subtitles
    }

    /// The properties of an audio track or a subtitle track.
    package struct Properties: Sendable, Hashable {
        /// The language, as an ISO 639-2 code of three letters; `nil` if it is unknown.
        package var language: String?
        /// The language tag (RFC 5646); `nil` if it is unknown.
        package var languageTag: String?
        /// The name for the user interface.
        package var title: String?
        /// A Boolean value that indicates whether the track is selected if the viewer has no preference.
        package var isDefault: Bool
        /// A Boolean value that indicates whether the subtitles are essential for understanding the content.
        package var isForced: Bool
        /// A Boolean value that indicates whether the subtitles describe dialog and sounds.
        package var describesSound: Bool
        /// A Boolean value that indicates whether the audio describes the video.
        package var describesVideo: Bool

        /// Creates properties.
        package init(
            language: String? = nil,
            title: String? = nil,
            isDefault: Bool = false,
            isForced: Bool = false,
            describesSound: Bool = false,
            describesVideo: Bool = false
        ) {
            self.language = language
            self.title = title
            self.isDefault = isDefault
            self.isForced = isForced
            self.describesSound = describesSound
            self.describesVideo = describesVideo
        }
    }

    /// The tracks to export.
    package let contents: Contents
    /// The reader of the segments.
    package let reader: MediaReader
    /// The properties of the audio track or the subtitle track.
    package let properties: Properties
    /// The positions of the segments that are left out.
    package let omittedSegments: Set<Int>
    /// The audio track or the subtitle track of a media file; `nil` for the first audio, and for a stream.
    package let fileTrack: FileTrack?

    /// Creates a source.
    package init(
        _ contents: Contents,
        reader: MediaReader,
        properties: Properties = Properties(),
        omittedSegments: Set<Int> = [],
        fileTrack: FileTrack? = nil
    ) {
        self.contents = contents
        self.reader = reader
        self.properties = properties
        self.omittedSegments = omittedSegments
        self.fileTrack = fileTrack
    }

    /// Returns the source with other tracks of the same playlist.
    package func replacingContents(with contents: Contents) -> ExportSource {
        ExportSource(
            contents,
            reader: reader,
            properties: properties,
            omittedSegments: omittedSegments,
            fileTrack: fileTrack
        )
    }

    /// Returns the position of the first segment at or after a position that is exported; `nil` if there is none.
    func nextPosition(from position: Int) -> Int? {
        guard position < reader.count else { return nil }
        return (position..<reader.count).first { !omittedSegments.contains($0) }
    }
}
