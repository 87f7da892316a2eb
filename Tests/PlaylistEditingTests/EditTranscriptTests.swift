import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing
import TestTranscripts
import Testing

/// Compares the complete results of edits of the sample playlists with reviewed transcripts.
///
/// A missing key, a wrong number or a misplaced line appears as a differing line. After an intended change,
/// `MILLSTREAM_RECORD_TRANSCRIPTS=1` rewrites the transcripts.
@Suite struct EditTranscriptTests {
    /// Applies edits in order, each spelled `name=value` as on the command line.
    private func edited(_ sample: EditSample, _ edits: String) -> String {
        Self.text {
            let plan = EditPlan(
                try edits.split(separator: " ").map { edit in
                    let parts = edit.split(separator: "=", maxSplits: 1)
                    return try PlaylistEdit(name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
                }
            )
            if EditSample.presentations.contains(where: { $0.name == sample.name }) {
                return try plan.applied(to: sample.multivariant()).bytes
            }
            let sources = Dictionary(
                try (EditSample.hosts + EditSample.guests).map { ($0.name, try $0.media()) },
                uniquingKeysWith: { first, _ in first }
            )
            let result = try plan.applied(to: sample.media(), sources: sources).bytes
            return result == Array(sample.text.utf8) ? Array("(unchanged)\n".utf8) : result
        }
    }

    /// Returns the resulting text, or the error.
    private static func text(_ edit: () throws -> [UInt8]) -> String {
        do {
            return String(decoding: try edit(), as: UTF8.self)
        } catch let error as PlaylistEditError {
            return "\(error.code.rawValue): \(error)\n"
        } catch {
            return "\(error)\n"
        }
    }

    @Test(arguments: EditSample.hosts.map(\.name))
    func cutMediaPlaylistsMatchTranscript(name: String) throws {
        let sample = try #require(EditSample.media(name))
        var transcript = Transcript("cut-\(name)", besideFileAt: #filePath)
        for edits in [
            "start=3.9", "start=4", "start=8", "start=12", "start=99", "duration=0.5", "duration=4", "duration=8.5",
            "duration=99",
            "drop-range=0...4", "drop-range=4...8", "drop-range=3.5...99", "drop-range=...99", "drop-range=1...2",
            "start=4 duration=4", "max-height=1",
        ] {
            transcript.add(edits, edited(sample, edits))
        }
        let difference = try transcript.difference()
        #expect(difference == nil)
    }

    @Test(arguments: EditSample.hosts.map(\.name))
    func stitchedMediaPlaylistsMatchTranscript(name: String) throws {
        let sample = try #require(EditSample.media(name))
        var transcript = Transcript("stitch-\(name)", besideFileAt: #filePath)
        for guest in ["ad", "keyed-map"] {
            for edits in ["append=\(guest)", "prepend=\(guest)", "insert=\(guest)@4"] {
                transcript.add(edits, edited(sample, edits))
            }
        }
        for edits in [
            "insert=fast@0", "insert=fast@5.9", "insert=fast@6", "insert=fast@99", "append=nothing",
            "insert=clear-map@12",
        ] {
            transcript.add(edits, edited(sample, edits))
        }
        let difference = try transcript.difference()
        #expect(difference == nil)
    }

    @Test(arguments: EditSample.guests.map(\.name))
    func stitchedInPlaylistsMatchTranscript(name: String) throws {
        var transcript = Transcript("guest-\(name)", besideFileAt: #filePath)
        for host in [EditSample.bare, .keys, .formats, .maps] {
            transcript.add("\(host.name): insert=\(name)@4", edited(host, "insert=\(name)@4"))
        }
        for edits in ["append=\(name)", "prepend=\(name)"] {
            transcript.add("plain: \(edits)", edited(.plain, edits))
        }
        let difference = try transcript.difference()
        #expect(difference == nil)
    }

    @Test func absoluteAndCanonicalFormsMatchTranscript() throws {
        var transcript = Transcript("spelling", besideFileAt: #filePath)
        for sample in EditSample.hosts + EditSample.guests {
            for edits in ["absolute", "canonical"] { transcript.add("\(sample.name): \(edits)", edited(sample, edits)) }
        }
        let difference = try transcript.difference()
        #expect(difference == nil)
    }

    @Test(arguments: EditSample.presentations.map(\.name))
    func editedMultivariantPlaylistsMatchTranscript(name: String) throws {
        let sample = try #require(EditSample.presentations.first { $0.name == name })
        var transcript = Transcript("edit-\(name)", besideFileAt: #filePath)
        for edits in [
            "bandwidth=...15", "bandwidth=1000...2000", "bandwidth=10...", "bandwidth=9k...", "max-height=179",
            "max-height=180", "max-height=360", "max-height=719", "max-height=720", "no-i-frames", "absolute",
            "canonical", "start=1 duration=2 drop-range=1...2 append=a prepend=b insert=c@1",
            "no-i-frames max-height=360 absolute canonical",
        ] {
            transcript.add(edits, edited(sample, edits))
        }
        let difference = try transcript.difference()
        #expect(difference == nil)
    }

    @Test func relocatedMediaPlaylistsMatchTranscript() throws {
        var transcript = Transcript("relocation-media", besideFileAt: #filePath)
        for sample in EditSample.hosts + EditSample.guests {
            let text = Self.text {
                let relocation = MediaPlaylist.Relocation(
                    segment: { "segment-\($0)" },
                    map: { "map-\($0.uri)" },
                    key: { "key-\($0.uri ?? "")" }
                )
                return try sample.media().relocated(relocation).bytes
            }
            transcript.add(sample.name, text)
        }
        let difference = try transcript.difference()
        #expect(difference == nil)
    }

    @Test func relocatedMultivariantPlaylistsMatchTranscript() throws {
        var transcript = Transcript("relocation-multivariant", besideFileAt: #filePath)
        let choices: [(name: String, variants: Set<Int>, renditions: Set<Int>)] = [
            ("everything", [0, 1, 2, 3], [0, 1, 2, 3]), ("the first of each", [0], [0]), ("no rendition", [0, 1], []),
            ("no variant", [], [0]), ("the last of each", [1, 3], [2]),
        ]
        for sample in EditSample.presentations {
            for choice in choices {
                let text = Self.text {
                    try sample.multivariant().relocated(
                        variant: { choice.variants.contains($0) ? "variant-\($0)" : nil },
                        rendition: { choice.renditions.contains($0) ? "rendition-\($0)" : nil }
                    ).bytes
                }
                transcript.add("\(sample.name): \(choice.name)", text)
            }
        }
        let difference = try transcript.difference()
        #expect(difference == nil)
    }

    @Test func rewrittenAddressesMatchTranscript() throws {
        var transcript = Transcript("addresses", besideFileAt: #filePath)
        for sample in EditSample.hosts + EditSample.guests + EditSample.presentations {
            let playlist = try Playlist.parse(
                Array(sample.text.utf8),
                context: PlaylistContext(address: sample.address.map { ResourceAddress($0) })
            )
            transcript.add(sample.name, lines: playlist.addresses.map { "\($0.role) \($0.uri) \($0.address.text)" })
            let all = Self.text { try playlist.rewritingAddresses { "\($0.role)".prefix(3) + "/" + $0.uri }.bytes }
            transcript.add("\(sample.name): all others", all)
        }
        let difference = try transcript.difference()
        #expect(difference == nil)
    }
}
