import Foundation
import ResourceAddressing
import TestTranscripts
import Testing

@testable import HLSPlaylist

/// Compares the diagnostics of many playlists with reviewed transcripts.
///
/// The playlists are those that violate one rule, and valid ones with a single change. A rule that is lost, that
/// reports another line or whose limit is off by one appears as a differing line of the transcript. After an intended
/// change, `MILLSTREAM_RECORD_TRANSCRIPTS=1` rewrites the transcripts.
@Suite struct ValidationTranscriptTests {
    private static let validFiles = RuleFixture.all.filter { $0.isValid && !$0.isPresentation }.map(\.file)

    @Test func fixtureDiagnosticsMatchTranscript() throws {
        var transcript = Transcript("rules", besideFileAt: #filePath)
        var lines: [String] = []
        for fixture in RuleFixture.all where !fixture.isValid {
            for found in try fixture.diagnostics() {
                let statement = try #require(Rule(rawValue: found.code)?.definition.statement)
                let detail = found.message.dropFirst(found.message.commonPrefix(with: statement).count)
                lines.append("\(fixture.name) \(found.line ?? 0) \(detail)")
            }
        }
        transcript.add("rules", lines: lines)
        let difference = try transcript.difference()
        #expect(difference == nil)
    }

    @Test(arguments: validFiles)
    func diagnosticsOfPerturbedPlaylistsMatchTranscript(file: String) throws {
        let fixture = try #require(RuleFixture.all.first { $0.file == file })
        var transcript = Transcript(fixture.name, besideFileAt: #filePath)
        let context = PlaylistContext(address: fixture.address)
        let text = String(decoding: try fixture.bytes(file), as: UTF8.self)
        transcript.add(
            file,
            lines: Perturbation.all(of: text, [.lines, .attributes, .values]).compactMap { changed in
                do {
                    let playlist = try Playlist.parse(Array(changed.text.utf8), context: context)
                    let found = playlist.validated(against: fixture.ruleSets).codes
                    return found.isEmpty ? nil : "\(changed.name): \(found)"
                } catch {
                    return "\(changed.name): \(error)"
                }
            }
        )
        let difference = try transcript.difference()
        #expect(difference == nil)
    }
}

/// Tests of the limits of rules: a number in a line that violates a rule is incremented or decremented by one.
@Suite struct RuleBoundaryTranscriptTests {
    @Test func diagnosticsOfNeighboringNumbersMatchTranscript() throws {
        var transcript = Transcript("rule-numbers", besideFileAt: #filePath)
        for fixture in RuleFixture.all where !fixture.isValid && !fixture.isPresentation {
            let context = PlaylistContext(address: fixture.address)
            let text = String(decoding: try fixture.bytes(fixture.file), as: UTF8.self)
            let diagnostics = try fixture.diagnostics()
            let base = diagnostics.codes
            let named = Set(diagnostics.compactMap(\.line))
            let changed = try Perturbation.all(of: text, .numbers, lines: named.isEmpty ? nil : named).compactMap {
                changed -> String? in
                let playlist = try Playlist.parse(Array(changed.text.utf8), context: context)
                let found = playlist.validated(against: fixture.ruleSets).codes
                return found == base ? nil : "\(changed.name): \([Diagnostic].change(from: base, to: found))"
            }
            if !changed.isEmpty { transcript.add(fixture.name, lines: changed) }
        }
        let difference = try transcript.difference()
        #expect(difference == nil)
    }
}

/// Tests of the rules about several playlists, one of which is changed.
@Suite struct PresentationTranscriptTests {
    /// Returns whether the changes of a presentation are in the transcript.
    ///
    /// Presentations that violate one of Apple's rules differ from others only in their formats and are left out,
    /// except the one with differing boundaries.
    private static func isChanged(_ fixture: RuleFixture) -> Bool {
        !fixture.name.hasPrefix("apple-") || fixture.name == "apple-boundaries-differ"
    }

    /// Presentations of several playlists in which one line of one playlist is changed.
    @Test func diagnosticsOfPerturbedPresentationsMatchTranscript() throws {
        var transcript = Transcript("presentations", besideFileAt: #filePath)
        for fixture in RuleFixture.all where fixture.isPresentation && Self.isChanged(fixture) {
            let base = try fixture.diagnostics().codes
            var changes = ["unchanged: \(base)"]
            for file in try fixture.files() {
                let text = String(decoding: try fixture.bytes("\(fixture.file)/\(file)"), as: UTF8.self)
                for changed in Perturbation.all(of: text, [.omissions, .numbers]) {
                    let found: String
                    do {
                        found = try fixture.diagnostics(replacing: file, with: Array(changed.text.utf8)).codes
                    } catch {
                        found = "\(error)"
                    }
                    if found != base {
                        changes.append("\(file) \(changed.name): \([Diagnostic].change(from: base, to: found))")
                    }
                }
            }
            transcript.add(fixture.name, lines: changes)
        }
        let difference = try transcript.difference()
        #expect(difference == nil)
    }
}

extension [Diagnostic] {
    /// The codes with their lines, in order.
    fileprivate var codes: String {
        var counts: [(code: String, count: Int)] = []
        for text in map({ "\($0.line.map { "\($0) " } ?? "")\($0.code)" }) {
            if counts.last?.code == text { counts[counts.count - 1].count += 1 } else { counts.append((text, 1)) }
        }
        return counts.map { $0.count > 1 ? "\($0.code) x\($0.count)" : $0.code }.joined(separator: ", ")
    }

    /// Returns the codes that were removed and added.
    fileprivate static func change(from base: String, to found: String) -> String {
        let (old, new) = (base.components(separatedBy: ", "), found.components(separatedBy: ", "))
        let gone = old.filter { !$0.isEmpty && !new.contains($0) }.map { "-\($0)" }
        return (gone + new.filter { !$0.isEmpty && !old.contains($0) }.map { "+\($0)" }).joined(separator: " ")
    }
}
