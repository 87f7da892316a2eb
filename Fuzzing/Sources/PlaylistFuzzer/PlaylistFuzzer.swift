import CLibFuzzer
import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ReportFormat
import ResourceAddressing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Feeds the parser with inputs that libFuzzer thinks up from those that reached something new.
///
/// SwiftPM wants a main program of its own, and libFuzzer's is only linked where there is none.
@main enum PlaylistFuzzer {
    static func main() {
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments) { fuzzPlaylist($0, $1) })
    }
}

/// What libFuzzer calls with each input: a trap, a hang or an exhausted memory is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPlaylist(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let playlist = try? Playlist.parse(bytes, context: context) else { return 0 }
    precondition(playlist.bytes == bytes, "writing changes bytes")
    read(playlist)
    guard let rewritten = try? playlist.rewritingAddresses({ $0.uri.isEmpty ? nil : "https://other.example/a" }) else {
        preconditionFailure("addresses cannot be rewritten")
    }
    precondition(
        rewritten.addresses.count == playlist.addresses.count,
        "rewriting changes how many addresses there are"
    )
    guard let absolute = try? playlist.withAbsoluteAddresses() else {
        preconditionFailure("addresses cannot be made absolute")
    }
    precondition(absolute.addresses.allSatisfy(\.address.isAbsolute), "an address stays relative")
    return 0
}

private let context = PlaylistContext(
    address: ResourceAddress("https://origin.example/live/list.m3u8?token=a%20b"),
    importableVariables: ["host": "cdn"]
)

/// Reads every value, and sees to it that the parts agree with each other.
private func read(_ playlist: Playlist) {
    precondition(!playlist.report.json.isEmpty)
    for diagnostic in playlist.diagnostics { precondition(diagnostic.line ?? 1 >= 1) }
    for address in playlist.addresses {
        // Relative addresses become absolute ones, which are longer; others stay as they are.
        precondition(address.address.text.utf8.count >= 0 && address.address.isAbsolute)
    }
    switch playlist {
    case .multivariant(let playlist): read(playlist)
    case .media(let playlist):
        read(playlist)
        update(playlist)
    }
    judge(playlist)
}

private func read(_ playlist: MultivariantPlaylist) {
    for variant in playlist.variants + playlist.iFrameVariants {
        for type in Rendition.MediaType.allCases {
            guard let group = variant.groupID(type) else { continue }
            precondition(playlist.renditions(type, in: group).count <= playlist.renditions.count)
        }
        precondition(variant.resolution.map { $0.width >= 0 && $0.height >= 0 } ?? true)
    }
    for data in playlist.sessionData { precondition(data.address?.isAbsolute ?? true) }
    let findings = PresentationValidation(playlist, playlists: [:]).diagnostics(of: Set(RuleSet.allCases))
    precondition(findings.count == 1)
}

/// Holds the playlist against all rules, and spells it anew.
private func judge(_ playlist: Playlist) {
    for finding in playlist.validated(against: Set(RuleSet.allCases)) { precondition(finding.line ?? 1 >= 1) }
    precondition(playlist.minimumVersion >= 1)
    // Without an entry that has an address, nothing says that it is a multivariant playlist.
    guard let canonical = try? playlist.canonical() else { return }
    precondition((try? canonical.canonical().bytes) == canonical.bytes, "the canonical spelling has another")
    switch (playlist, canonical) {
    case (.media(let first), .media(let second)):
        precondition(first.segments.map(\.uri) == second.segments.map(\.uri), "an address changed")
        precondition(first.duration == second.duration, "the duration changed")
    case (.multivariant(let first), .multivariant(let second)):
        precondition(first.variants.map(\.uri) == second.variants.map(\.uri), "a variant changed")
    default: preconditionFailure("the kind changed")
    }
}

/// Takes the playlist for a newer version of a part of itself, and for an update of itself.
private func update(_ playlist: MediaPlaylist) {
    let half = Array(playlist.bytes.prefix(playlist.bytes.count / 2))
    for previous in [try? MediaPlaylist(parsing: half, context: context), playlist].compactMap({ $0 }) {
        guard let updated = try? MediaPlaylist(parsing: playlist.bytes, after: previous, context: context) else {
            preconditionFailure("what could be parsed cannot be after another")
        }
        precondition(updated.segments.map(\.uri) == playlist.segments.map(\.uri), "an update changes addresses")
        precondition(updated.segments.map(\.start) == playlist.segments.map(\.start), "an update changes times")
        precondition(updated.unknownTags.map(\.line) == playlist.unknownTags.map(\.line), "an update changes tags")
        if let merged = try? previous.applying(playlist) {
            precondition(merged.skippedSegmentCount == 0 || playlist.skippedSegmentCount == 0, "segments are missing")
        }
    }
}

private func read(_ playlist: MediaPlaylist) {
    let segments = playlist.segments
    var end = MediaTime.zero
    for segment in segments {
        let range = segments.timeRange(at: segment.position)
        precondition(range.start == end && segment.start == end, "the timeline has a hole")
        precondition(segment.duration >= .zero && segment.sequence >= 0 && segment.discontinuitySequence >= 0)
        if let bytes = segment.byteRange { precondition(bytes.start >= 0 && bytes.end >= bytes.start) }
        if !range.isEmpty {
            precondition(segments.position(at: range.start) == segment.position, "a time is found elsewhere")
        }
        end = range.end
    }
    precondition(playlist.duration == end, "the durations do not add up")
    for range in playlist.dateRanges {
        precondition(range.startDate?.description != "" && range.endDate?.description != "")
    }
}
