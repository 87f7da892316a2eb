import DASHManifest
import DASHTranslation
import HLSPlaylist
import MediaTiming
import ReportFormat
import ResourceAddressing

extension FuzzTarget {
    /// The readers of DASH.
    static let dashTargets = [
        FuzzTarget(
            "dash",
            "DASH manifests: inspected, validated, translated, and translated again later",
            maximumLength: 8_192,
            replayCount: 60,
            sharedSeeds: "corpus/dash",
            run: readManifest
        ),
        FuzzTarget("manifest-patches", "patches of DASH manifests, and remote elements", run: readManifestUpdate),
        FuzzTarget(
            "stored-timelines",
            "stored states of live presentations, as JSON",
            replayCount: 200,
            run: readStoredTimelines
        ),
    ]
}

/// Parses a manifest, and translates it at two times; all playlists must be valid.
@Sendable func readManifest(_ bytes: [UInt8]) {
    let address = ResourceAddress("https://origin.example/live/manifest.mpd?token=a%20b")
    guard let presentation = try? MediaPresentation(parsing: bytes.span, address: address) else { return }
    check(!presentation.report.json.isEmpty, "a report is empty")
    let lines = presentation.validated().map { $0.line ?? 0 }
    check(lines == lines.sorted(), "violations are not in the order of the lines")
    if let remote = try? RemoteElements(in: bytes.span, address: address) {
        check(remote.bytes.count > 10, "a written manifest is empty")
    }
    // Twenty playlists with thousands of segments exercise the same code as the default limits, and are faster.
    let limits = TranslationLimits(
        playlistCount: 20,
        segmentCount: 5_000,
        byteCount: 4 << 20,
        eventCount: 100,
        lossCount: 100
    )
    var translator = PresentationTranslator(limits: limits)
    for seconds in [1_704_067_800, 1_704_067_860] as [Int64] {
        guard let result = try? translator.translate(presentation, at: MediaTime(seconds: seconds)) else { continue }
        check(result.playlists.count <= limits.playlistCount, "there are more playlists than allowed")
        let folder = ResourceAddress("https://translated.example/a/")
        checkValid(result.multivariant.bytes, at: folder.resolving(TranslatedPresentation.multivariantFileName))
        var count = 0
        for entry in result.playlists {
            count += entry.bytes.count
            checkValid(entry.bytes, at: folder.resolving(entry.fileName))
        }
        check(count <= limits.byteCount, "the playlists are larger than allowed")
    }
}

private func checkValid(_ bytes: [UInt8], at address: ResourceAddress) {
    guard let playlist = try? Playlist.parse(bytes, context: PlaylistContext(address: address)) else {
        return check(false, "a translated playlist cannot be parsed")
    }
    // The hosts of URLs are those of the manifest.
    let errors = playlist.validated().filter { $0.severity == .error && $0.code != "invalid-uri" }
    check(errors.isEmpty, "a translated playlist is invalid: \(errors.map(\.code))")
}
