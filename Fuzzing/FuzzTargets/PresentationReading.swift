import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ReportFormat
import ResourceAddressing

/// Parses, validates and edits a generated presentation.
@Sendable func readPresentation(_ bytes: [UInt8]) {
    var presentation = GeneratedPresentation(bytes)
    var playlists: [ResourceAddress: Playlist] = [:]
    var media: [MediaPlaylist] = []
    var multivariant: MultivariantPlaylist?
    var previous: [String: MediaPlaylist] = [:]
    for (name, text) in presentation.texts {
        let address = ResourceAddress(name)
        let context = PlaylistContext(address: address, importableVariables: ["v": "w"])
        guard let playlist = try? Playlist.parse(Array(text.utf8), context: context) else { continue }
        inspect(playlist)
        playlists[address] = playlist
        switch playlist {
        case .multivariant(let playlist): multivariant = playlist
        case .media(let playlist):
            if let before = previous[name] { update(before, playlist) }
            previous[name] = playlist
            media.append(playlist)
        }
    }
    if let multivariant {
        let findings = PresentationValidation(multivariant, playlists: playlists).diagnostics(of: Set(RuleSet.allCases))
        check(findings.count <= 1 + playlists.count, "a playlist is validated twice")
    }
    let plan = EditPlan(presentation.edits())
    edit(media, plan)
    if let multivariant { edit(multivariant, plan, playlists) }
}

extension GeneratedPresentation {
    /// Returns up to six edits that are generated from the remaining decisions.
    mutating func edits() -> [PlaylistEdit] {
        var edits: [PlaylistEdit] = []
        for _ in 0..<choices.number(below: 7) {
            let definition = choices.element(of: PlaylistEdit.definitions)
            let value = editValue(definition.parameter)
            if let edit = try? PlaylistEdit(name: definition.name, value: value) { edits.append(edit) }
        }
        return edits
    }

    private mutating func editValue(_ parameter: EditParameter?) -> String {
        let times = ["0", "4", "5.5", "00:01:30", "12", "30"]
        switch parameter?.kind {
        case .source: return editSource()
        case .sourceAtBreaks:
            let seconds = choices.spelledNumber(["1", "10", "86400"])
            let rule = choices.element(of: [
                "cues", "class=ad", "every=\(seconds)", "4...12,cues", "none,every=\(seconds)",
            ])
            return "\(editSource())@\(rule)"
        case .sourceAtTime: return "\(editSource())@\(choices.spelledNumber(times))"
        case .text: return "a"
        case .time: return choices.spelledNumber(times)
        case .integer: return choices.spelledNumber(Self.numbers(["360", "1080", "1"], within: parameter))
        case .decimal: return choices.spelledNumber(Self.numbers(["0", "1.5", "30"], within: parameter))
        case .timeRange: return "\(choices.spelledNumber(times))...\(choices.spelledNumber(["20", "40", ""]))"
        case .decimalRange: return "\(choices.spelledNumber(["24", ""]))...\(choices.spelledNumber(["60", ""]))"
        case .resolutionRange:
            let height = choices.spelledNumber(["360", "1080"])
            return choices.element(of: ["1x\(height)...", "...\(height)x\(height)", "1x1...\(height)x\(height)"])
        case .list:
            return choices.element(of: [
                "avc1,mp4a", "hvc1", "token,x", "en,ko", "und", "*", "SDR", "PQ,HLG", "EXT-X-DATERANGE",
                "EXT-X-MAP,EXT-X-KEY",
                "EXT-X-MEDIA,EXT-X-VERSION", "EXT-X-DEFINE,EXT-X-ENDLIST",
            ])
        case .segmentRule:
            let range = "\(choices.spelledNumber(times))...\(choices.spelledNumber(["20", "40", ""]))"
            return choices.element(of: ["cues", "class=ad", "address=1", range, "\(range),60...", "none"])
        case .key:
            let digits = "00112233445566778899aabbccddeeff"
            return choices.element(of: [digits, "\(digits),iv=0x\(digits)"])
        case .conditions:
            let number = choices.spelledNumber(["2", "720"])
            return choices.element(of: [
                "max-height(\(number)),codecs(avc1)", "bandwidth(...\(number)k)", "types(sdh,cea608)",
                "languages(en,und),channels(\(number)...)",
            ])
        case .channel:
            let time = choices.spelledNumber(["1", "30", "0", "86400"])
            return choices.element(of: [
                "loop", "loop,window=\(time)", "once,start=2020-01-01T00:00:00Z,periods=\(time)",
            ])
        case .tag:
            let number = choices.spelledNumber(["7", "0"])
            return choices.element(of: [
                "EXT-X-ENDLIST", "EXT-X-VERSION=\(number)", "EXT-X-MEDIA-SEQUENCE=\(number)", "EXT-X-I-FRAMES-ONLY",
                "EXT-X-TARGETDURATION=\(number)", "EXT-X-START=TIME-OFFSET=\(number)", "EXT-X-NEW=\(number)",
            ])
        case .bitRateRange:
            return "\(choices.spelledNumber(["100k", "0", ""]))...\(choices.spelledNumber(["4M", "900k", ""]))"
        case nil: return ""
        }
    }

    /// Returns numbers within the range of a parameter: a number outside of it is replaced with the nearest bound.
    private static func numbers(_ texts: [String], within parameter: EditParameter?) -> [String] {
        texts.map { text in
            guard let number = Double(text) else { return text }
            if let minimum = parameter?.minimum, number < Double(minimum) { return "\(minimum)" }
            if let maximum = parameter?.maximum, number > Double(maximum) { return "\(maximum)" }
            return text
        }
    }

    private mutating func editSource() -> String {
        choices.element(of: [
            Self.base + "0.m3u8", Self.base + "1.m3u8", "gap:20.5", "gap:7200", Self.base + "main.m3u8",
        ])
    }
}

/// Parses the second version of a playlist as an update of the first, and merges them.
private func update(_ before: MediaPlaylist, _ after: MediaPlaylist) {
    let updated = try? MediaPlaylist(parsing: after.bytes, after: before, context: after.context)
    check(updated?.segments.map(\.uri) == after.segments.map(\.uri), "an update changes addresses")
    guard let merged = try? before.applying(after) else { return }
    check(merged.segments.count <= before.segments.count + after.segments.count, "an update adds segments")
}

/// The date at which simulated channels are requested.
private let date = ProgramDateTime(sinceEpoch: MediaTime(value: 1_764_000_000_123, timescale: 1_000))

/// Applies each edit separately, and then all of them, to each playlist.
private func edit(_ playlists: [MediaPlaylist], _ plan: EditPlan) {
    var sources: [String: MediaPlaylist] = [:]
    for playlist in playlists { sources[playlist.context.address?.text ?? ""] = playlist }
    let plans = plan.edits.map { EditPlan([$0]) } + [plan]
    for playlist in playlists {
        for plan in plans {
            guard let edited = try? plan.applied(to: playlist, sources: sources, date: date) else { continue }
            checkEdited(.media(edited))
        }
    }
}

private func edit(_ playlist: MultivariantPlaylist, _ plan: EditPlan, _ playlists: [ResourceAddress: Playlist]) {
    var sources: [String: Playlist] = [:]
    for name in plan.sources { sources[name] = playlists[ResourceAddress(name)] }
    for plan in plan.edits.map({ EditPlan([$0]) }) + [plan] {
        if let edited = try? plan.applied(to: playlist, sources: sources) { checkEdited(.multivariant(edited)) }
    }
    let childPlans = plan.childPlans(sources: sources)
    // Only the first entries of long lists are edited; the others are similar.
    let variants = (playlist.variants + playlist.iFrameVariants).prefix(8).map { PresentationEntry.variant($0) }
    for entry in variants + playlist.renditions.prefix(8).map({ PresentationEntry.rendition($0) }) {
        guard let child = try? childPlans.plan(for: entry),
            let address = entry.address, case .media(let media)? = playlists[address]
        else { continue }
        var gaps: [String: MediaPlaylist] = [:]
        for name in child.sources {
            if case .media(let source)? = playlists[ResourceAddress(name)] { gaps[name] = source }
        }
        if let edited = try? child.applied(to: media, sources: gaps, date: date) { checkEdited(.media(edited)) }
    }
}

/// Checks that an edited playlist can be parsed to the same values.
func checkEdited(_ edited: Playlist) {
    guard let again = try? Playlist.parse(edited.bytes, context: edited.context) else {
        check(false, "an edited playlist cannot be read")
        return
    }
    check(again.kind == edited.kind, "an edit changes the kind")
    // A plan is applied to many playlists, and reports of a million lines are slow to write.
    if edited.bytes.count < 1 << 20 { check(!again.report.json.isEmpty, "the report is empty") }
    if case (.media(let again), .media(let edited)) = (again, edited) {
        check(again.duration == edited.duration, "an edited playlist has another duration when it is read again")
        check(again.segments.count == edited.segments.count, "an edited playlist loses segments")
    }
}

/// Parses lines with edits, `name=value`, and applies them.
@Sendable func readEdits(_ bytes: [UInt8]) {
    var edits: [PlaylistEdit] = []
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n").prefix(16) {
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let (name, value) = (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
        guard let edit = try? PlaylistEdit(name: name, value: value) else { continue }
        let spelling = edit.nameAndValue
        let again = try? PlaylistEdit(name: spelling.name, value: spelling.value)
        check(again == edit, "an edit is spelled as another: \(spelling)")
        edits.append(edit)
    }
    applyToSamples(EditPlan(edits))
}

/// Applies edits to a media playlist and a multivariant playlist.
func applyToSamples(_ plan: EditPlan) {
    guard let media = sampleMedia, let multivariant = sampleMultivariant else {
        check(false, "the playlists of the target cannot be read")
        return
    }
    edit([media], plan)
    edit(multivariant, plan, [ResourceAddress(sampleBase + "0.m3u8"): .media(media)])
}

private let sampleBase = "https://origin.example/film/"

private let sampleMedia = try? MediaPlaylist(
    parsing: Array(
        """
        #EXTM3U
        #EXT-X-TARGETDURATION:10
        #EXT-X-MAP:URI="i.mp4",BYTERANGE="100@0"
        #EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:00:00Z
        #EXTINF:10,
        #EXT-X-BYTERANGE:1000@100
        a.mp4
        #EXTINF:9.5,
        #EXT-X-BYTERANGE:1000
        a.mp4
        #EXT-X-DISCONTINUITY
        #EXT-X-KEY:METHOD=AES-128,URI="k"
        #EXT-X-DATERANGE:ID="r",START-DATE="2024-01-01T00:00:20Z",DURATION=5
        #EXTINF:7,
        b.mp4
        #EXTINF:3.25,
        c.mp4
        #EXT-X-ENDLIST

        """.utf8
    ),
    context: PlaylistContext(address: ResourceAddress(sampleBase + "0.m3u8"))
)

private let sampleMultivariant: MultivariantPlaylist? = {
    let text = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",URI="0.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=640x360,AUDIO="a"
        0.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=4000000,RESOLUTION=1920x1080,AUDIO="a"
        1.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,URI="0.m3u8"

        """
    let context = PlaylistContext(address: ResourceAddress(sampleBase + "main.m3u8"))
    guard case .multivariant(let playlist)? = try? Playlist.parse(Array(text.utf8), context: context) else {
        return nil
    }
    return playlist
}()
