import HLSPlaylist
import ReportFormat
import ResourceAddressing
import TestTranscripts
import Testing

/// Compares all values parsed from many playlists, and their canonical form, with reviewed transcripts.
@Suite struct ReadingTranscriptTests {
    /// Returns the values of a report, one per line, each with its path.
    private func lines(_ value: ReportValue, _ path: String = "") -> [String] {
        switch value {
        case .string(let text): ["\(path) \"\(text)\""]
        case .number(let digits): ["\(path) \(digits)"]
        case .bool(let flag): ["\(path) \(flag)"]
        case .array(let values): values.isEmpty ? [] : lines(values, path)
        case .sequence(let values): lines(values.values, path)
        case .object(let fields):
            fields.filter { $0.name != "diagnostics" }.flatMap {
                lines($0.value, path.isEmpty ? $0.name : "\(path).\($0.name)")
            }
        }
    }

    private func lines(_ values: [ReportValue], _ path: String) -> [String] {
        values.enumerated().flatMap { lines($1, "\(path)[\($0)]") }
    }

    private func canonicalLines(_ playlist: Playlist) -> [String] {
        do {
            return String(decoding: try playlist.canonical().bytes, as: UTF8.self).split(separator: "\n").map(
                String.init
            )
        } catch {
            return ["\(error)"]
        }
    }

    private let context = PlaylistContext(
        address: ResourceAddress("https://h.example/a/list.m3u8?token=1"),
        importableVariables: ["imported": "from the multivariant playlist"]
    )

    @Test func quirkValuesMatchTranscript() throws {
        var transcript = Transcript("quirks", besideFileAt: #filePath)
        for quirk in Quirk.all where quirk.bytes.count < 5_000 {
            let playlist = try Playlist.parse(quirk.bytes, context: PlaylistContext())
            transcript.add(
                quirk.name,
                lines: lines(playlist.report) + canonicalLines(playlist)
                    + playlist.diagnostics.map { "\($0.line ?? 0) \($0.severity.rawValue) \($0.message)" }
            )
        }
        let difference = try transcript.difference()
        #expect(difference == nil)
    }

    private static let bases = ["everything": Fixtures.everything, "multivariant": Fixtures.multivariant]

    @Test(arguments: bases.keys.sorted())
    func perturbedPlaylistValuesMatchTranscript(name: String) throws {
        let text = try #require(Self.bases[name])
        let base = try Playlist.parse(Array(text.utf8), context: context)
        let (known, canonical) = (lines(base.report), canonicalLines(base))
        let (knownLines, canonicalSpellings) = (Set(known), Set(canonical))
        var transcript = Transcript("reading-\(name)", besideFileAt: #filePath)
        transcript.add("values", lines: known)
        transcript.add("canonical", lines: canonical)
        var changes: [String] = []
        for changed in Perturbation.all(of: text, [.lines, .attributes, .values]) {
            let playlist = try Playlist.parse(Array(changed.text.utf8), context: context)
            let found = lines(playlist.report)
            let spelled = canonicalLines(playlist)
            let added = found.filter { !knownLines.contains($0) } + spelled.filter { !canonicalSpellings.contains($0) }
            let removed = knownLines.subtracting(found).count + canonicalSpellings.subtracting(spelled).count
            // If most values differ, the first ones are enough to identify the change.
            let shown = added.prefix(2).joined(separator: " | ") + (added.count > 2 ? " | \(added.count) in all" : "")
            changes.append("\(changed.name): -\(removed) \(shown)")
        }
        transcript.add("changes", lines: changes)
        let difference = try transcript.difference()
        #expect(difference == nil)
    }
}
