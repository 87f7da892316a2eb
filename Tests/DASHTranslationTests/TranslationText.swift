import DASHManifest
import DASHTranslation
import Foundation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

/// The time of day at which tests translate live presentations: 2024-01-01T00:10:00Z.
let testNow = MediaTime(seconds: 1_704_067_800)

/// Returns a manifest with the given periods.
func manifest(
    _ periods: String,
    attributes: String = #"type="static" mediaPresentationDuration="PT20S""#,
    address: String = "https://example.test/a/manifest.mpd"
) throws -> MediaPresentation {
    let text = """
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:cenc="urn:mpeg:cenc:2013"
          profiles="urn:mpeg:dash:profile:isoff-live:2011" minBufferTime="PT2S" \(attributes)>\(periods)</MPD>
        """
    let bytes = Array(text.utf8)
    return try MediaPresentation(parsing: bytes.span, address: ResourceAddress(address))
}

/// Returns a manifest of a live presentation that began at 2024-01-01T00:00:00Z.
func liveManifest(_ periods: String, attributes: String = "") throws -> MediaPresentation {
    try manifest(
        periods,
        attributes:
            #"type="dynamic" availabilityStartTime="2024-01-01T00:00:00Z" minimumUpdatePeriod="PT2S" \#(attributes)"#
    )
}

/// An adaptation set of video whose segments have the duration of 4 seconds.
let videoSet = """
    <AdaptationSet contentType="video" mimeType="video/mp4" startWithSAP="1">
    <SegmentTemplate duration="4" initialization="$RepresentationID$/init.mp4" media="$RepresentationID$/$Number$.m4s"/>
    <Representation id="v1" bandwidth="1000000" codecs="avc1.64001f" width="640" height="360" frameRate="30000/1001"/>
    <Representation id="v2" bandwidth="3000000" codecs="avc1.640028" width="1280" height="720" frameRate="30000/1001"/>
    </AdaptationSet>
    """

/// Returns an adaptation set of audio whose segments have the duration of 4 seconds.
func audioSet(_ id: String, language: String, contents: String = "", codec: String = "mp4a.40.2") -> String {
    """
    <AdaptationSet contentType="audio" mimeType="audio/mp4" lang="\(language)">\(contents)
    <SegmentTemplate duration="4" initialization="$RepresentationID$/init.mp4" media="$RepresentationID$/$Number$.m4s"/>
    <Representation id="\(id)" bandwidth="128000" codecs="\(codec)"/></AdaptationSet>
    """
}

/// Translates a manifest that needs no segment index, and checks that all playlists are valid.
func translate(_ presentation: MediaPresentation, at now: MediaTime = testNow) throws -> TranslatedPresentation {
    var translator = PresentationTranslator()
    let result = try translator.translate(presentation, at: now)
    #expect(violations(of: result) == [])
    return result
}

/// Returns the requirements that the playlists of a translation break.
func violations(of translated: TranslatedPresentation, of severities: Set<Diagnostic.Severity> = [.error]) -> [String] {
    let address = ResourceAddress("https://translated.test/multivariant.m3u8")
    do {
        let multivariant = try MultivariantPlaylist(
            parsing: translated.multivariant.bytes,
            context: PlaylistContext(address: address)
        )
        var playlists: [ResourceAddress: Playlist] = [:]
        for entry in translated.playlists {
            let own = address.resolving(entry.fileName)
            playlists[own] = .media(
                try MediaPlaylist(parsing: entry.bytes, context: PlaylistContext(address: own))
            )
        }
        let referenced =
            multivariant.variants.map(\.address) + multivariant.renditions.compactMap(\.address)
            + multivariant.iFrameVariants.map(\.address)
        let missing = Set(referenced).symmetricDifference(playlists.keys).map { "unreferenced or missing: \($0.text)" }
        return missing.sorted()
            + PresentationValidation(multivariant, playlists: playlists).diagnostics(of: [.rfc]).flatMap { group in
                group.diagnostics.filter { severities.contains($0.severity) }.map { diagnostic in
                    "\(group.address?.lastPathComponent ?? "") \(diagnostic.code): \(diagnostic.message)"
                }
            }
    } catch {
        return ["\(error)"]
    }
}

extension TranslatedPresentation {
    /// The text of the multivariant playlist.
    var multivariantText: String { String(decoding: multivariant.bytes, as: UTF8.self) }

    /// Returns the media playlist with a file name.
    func playlist(_ name: String) throws -> MediaPlaylist {
        try #require(playlists.first { $0.fileName == name }).playlist
    }

    /// Returns the text of the media playlist with a file name.
    func text(_ name: String) throws -> String { String(decoding: try playlist(name).bytes, as: UTF8.self) }
}
