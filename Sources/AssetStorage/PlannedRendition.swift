package import HLSPlaylist
import PlaylistEditing
package import ResourceAddressing

/// A media playlist to download.
package struct PlannedRendition: Sendable {
    /// The role of the rendition in the presentation.
    package let role: StoredRendition.Role
    /// The zero-based index among the variants, the renditions, or the I-frame variants of the source; -1 if the source is
    /// a media playlist.
    package let position: Int
    /// The language of the rendition (RFC 5646); `nil` for variants and for renditions without a language.
    package let language: String?
    /// The variant that the playlist belongs to; `nil` for renditions and if the source is a media playlist.
    package let variant: Variant?
    /// The media playlist.
    package let playlist: MediaPlaylist
    /// The URL of the playlist after all redirects, on which the URLs of its segments are based.
    package let address: ResourceAddress
    /// The URL with which the next version of the playlist is loaded.
    package let reloadAddress: ResourceAddress
    /// The indices of further variants or renditions of the source that have the same playlist.
    package let aliases: [Int]
    /// The number of segments of the source that are before the first one of ``playlist``.
    package let firstPosition: Int
    /// A Boolean value that indicates whether ``playlist`` has only some of the segments of the source.
    package let isPart: Bool
    /// The usual extension of a media file, such as `.mp4`, that is the only segment; `nil` for any other playlist.
    package let mediaFileExtension: String?
    /// The languages of the audio tracks of a media file, with `und` for a track that declares none.
    package let audioLanguages: [String]
    /// The languages of the subtitle tracks of a media file, with `und` for a track that declares none.
    package let subtitleLanguages: [String]

    /// Creates a planned rendition.
    package init(
        role: StoredRendition.Role,
        position: Int,
        language: String?,
        variant: Variant?,
        playlist: MediaPlaylist,
        address: ResourceAddress,
        reloadAddress: ResourceAddress? = nil,
        aliases: [Int] = [],
        firstPosition: Int = 0,
        isPart: Bool = false,
        mediaFileExtension: String? = nil,
        audioLanguages: [String] = [],
        subtitleLanguages: [String] = []
    ) {
        self.audioLanguages = audioLanguages
        self.subtitleLanguages = subtitleLanguages
        self.mediaFileExtension = mediaFileExtension
        self.role = role
        self.position = position
        self.language = language
        self.variant = variant
        self.playlist = playlist
        self.address = address
        self.reloadAddress = reloadAddress ?? address
        self.aliases = aliases
        self.firstPosition = firstPosition
        self.isPart = isPart
    }

    /// The playlist with its variables replaced, so that it is valid without the playlist that defines them.
    var standalonePlaylist: MediaPlaylist {
        get throws { try playlist.variables.isEmpty ? playlist : playlist.standalone() }
    }
}
