import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ReportFormat
import ResourceAddressing

extension FuzzTarget {
    /// The parsers, validators and editors of playlists.
    static let playlistTargets = [
        FuzzTarget(
            "playlists",
            "playlists of RFC 8216bis",
            maximumLength: 8_192,
            replayCount: 120,
            sharedSeeds: "corpus/hls",
            run: readPlaylist
        ),
        FuzzTarget(
            "presentations",
            "presentations from a grammar: inspected, validated, edited",
            maximumLength: 2_048,
            replayCount: 40,
            run: readPresentation
        ),
        FuzzTarget(
            "edits",
            "names and values of edits, applied to a playlist",
            maximumLength: 1_024,
            replayCount: 80,
            run: readEdits
        ),
        FuzzTarget(
            "edit-programs",
            "lists of edits as JSON, applied to a playlist",
            maximumLength: 2_048,
            replayCount: 80,
            run: readEditProgram
        ),
    ]
}

/// Parses a playlist and inspects it.
@Sendable func readPlaylist(_ bytes: [UInt8]) {
    guard let playlist = try? Playlist.parse(bytes, context: context) else { return }
    check(playlist.bytes == bytes, "writing changes bytes")
    inspect(playlist)
}

/// Reads every value of a playlist, and validates, rewrites and updates it.
func inspect(_ playlist: Playlist) {
    read(playlist)
    // Rewriting throws an error if the result would be too large or could not be parsed.
    if let rewritten = try? playlist.rewritingAddresses({ $0.uri.isEmpty ? nil : "https://other.example/a" }) {
        check(
            rewritten.addresses.count == playlist.addresses.count,
            "rewriting changes how many addresses there are"
        )
    }
    if let absolute = try? playlist.withAbsoluteAddresses() {
        check(absolute.addresses.allSatisfy(\.address.isAbsolute), "an address stays relative")
    }
}

private let context = PlaylistContext(
    address: ResourceAddress("https://origin.example/live/list.m3u8?token=a%20b"),
    importableVariables: ["host": "cdn"]
)

/// Reads every value and checks that the values are consistent.
private func read(_ playlist: Playlist) {
    check(!playlist.report.json.isEmpty, "the report is empty")
    for diagnostic in playlist.diagnostics { check(diagnostic.line ?? 1 >= 1) }
    for address in playlist.addresses {
        check(address.address.isAbsolute, "an address is not resolved")
    }
    switch playlist {
    case .multivariant(let playlist): read(playlist)
    case .media(let playlist):
        read(playlist)
        update(playlist)
    }
    validate(playlist)
}

private func read(_ playlist: MultivariantPlaylist) {
    for variant in playlist.variants + playlist.iFrameVariants {
        for type in Rendition.MediaType.allCases {
            guard let group = variant.groupID(type) else { continue }
            check(playlist.renditions(type, in: group).count <= playlist.renditions.count)
        }
        check(variant.resolution.map { $0.width >= 0 && $0.height >= 0 } ?? true)
    }
    for data in playlist.sessionData { check(data.address?.isAbsolute ?? true) }
    let findings = PresentationValidation(playlist, playlists: [:]).diagnostics(of: Set(RuleSet.allCases))
    check(findings.count == 1)
}

/// Validates the playlist against all rules and checks its canonical form.
private func validate(_ playlist: Playlist) {
    for finding in playlist.validated(against: Set(RuleSet.allCases)) { check(finding.line ?? 1 >= 1) }
    check(playlist.minimumVersion >= 1)
    guard let canonical = try? playlist.canonical() else { return }
    check((try? canonical.canonical())?.bytes == canonical.bytes, "the canonical spelling is not canonical")
    switch (playlist, canonical) {
    case (.media(let first), .media(let second)):
        check(first.segments.map(\.uri) == second.segments.map(\.uri), "an address changed")
        check(first.duration == second.duration, "the duration changed")
    case (.multivariant(let first), .multivariant(let second)):
        check(first.variants.map(\.uri) == second.variants.map(\.uri), "a variant changed")
    default: check(false, "the kind changed")
    }
}

/// Parses the playlist as an update of its first half and of itself.
private func update(_ playlist: MediaPlaylist) {
    let half = Array(playlist.bytes.prefix(playlist.bytes.count / 2))
    for previous in [try? MediaPlaylist(parsing: half, context: playlist.context), playlist].compactMap({ $0 }) {
        guard let updated = try? MediaPlaylist(parsing: playlist.bytes, after: previous, context: playlist.context)
        else {
            preconditionFailure("a playlist that can be parsed cannot be an update")
        }
        check(updated.segments.map(\.uri) == playlist.segments.map(\.uri), "an update changes addresses")
        check(updated.segments.map(\.start) == playlist.segments.map(\.start), "an update changes times")
        check(updated.unknownTags.map(\.line) == playlist.unknownTags.map(\.line), "an update changes tags")
        if let merged = try? previous.applying(playlist) {
            check(merged.skippedSegmentCount == 0 || playlist.skippedSegmentCount == 0, "segments are missing")
        }
    }
}

private func read(_ playlist: MediaPlaylist) {
    let segments = playlist.segments
    var end = MediaTime.zero
    for segment in segments {
        let range = segments.timeRange(at: segment.position)
        check(range.start == end && segment.start == end, "the timeline has a gap")
        check(segment.duration >= .zero && segment.sequence >= 0 && segment.discontinuitySequence >= 0)
        if let bytes = segment.byteRange { check(bytes.start >= 0 && bytes.end >= bytes.start) }
        if !range.isEmpty {
            check(segments.position(at: range.start) == segment.position, "a time is found elsewhere")
        }
        end = range.end
    }
    check(playlist.duration == end, "the durations do not add up")
    for range in playlist.dateRanges {
        check(range.startDate?.description != "" && range.endDate?.description != "")
    }
}
