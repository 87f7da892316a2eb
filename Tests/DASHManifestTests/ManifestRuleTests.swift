import DASHManifest
import Foundation
import Testing

struct ManifestRuleTests {
    @Test(arguments: RuleManifest.all.indices)
    func manifestBreaksOnlyItsRule(_ index: Int) throws {
        let sample = RuleManifest.all[index]
        let found = try parseManifest(sample.text).validated()
        #expect(Set(found.map(\.code)) == [sample.rule], "\(sample.rule)\n\(found)")
        for diagnostic in found {
            let definition = sample.rule.definition
            #expect(diagnostic.severity == definition.severity)
            #expect(diagnostic.section == definition.section)
            #expect(diagnostic.message.hasPrefix(definition.statement))
            #expect((diagnostic.line ?? 0) >= 2)
        }
    }

    @Test func everyRuleHasAManifest() {
        let covered = Set(RuleManifest.all.map(\.rule))
        #expect(ManifestRule.all.filter { !covered.contains($0) } == [])
        #expect(Set(ManifestRule.all.map(\.definition.statement)).count == ManifestRule.all.count)
        #expect(ManifestRule.all.allSatisfy { $0.rawValue.hasPrefix("dash-") })
    }

    @Test(arguments: [
        RuleManifest.manifest(), RuleManifest.manifest(RuleManifest.dynamic),
        RuleManifest.timeline(#"<S d="4" r="-1"/>"#),
        RuleManifest.timeline(#"<S t="9" d="4"/><S t="20" d="4" r="-1"/><S t="40" d="4"/>"#),
        RuleManifest.with("", attributes: #"id="p" duration="PT0S""#),
        RuleManifest.with("", attributes: #"id="p" xlink:href="https://example.test/p" xlink:actuate="onLoad""#),
        RuleManifest.setWith(#"lang="sr-Latn-RS" minBandwidth="1000" maxBandwidth="1000" startWithSAP="1""#),
        RuleManifest.inSet(#"<Role schemeIdUri="urn:mpeg:dash:role:2011" value="main"/>"#),
        RuleManifest.inSet(#"<Role schemeIdUri="urn:example" value="primary"/>"#),
        RuleManifest.templated(#"media="$RepresentationID$-$Bandwidth$-$Number%05d$-$$.m4s" duration="4""#),
    ])
    func manifestOfTheStandardBreaksNoRule(_ text: String) throws {
        #expect(try parseManifest(text).validated() == [])
    }

    @Test func violationsAreInTheOrderOfTheLinesAndBounded() throws {
        let sets = (0..<1_200).map { index in
            let id = #"id="r\#(index)" bandwidth="1""#
            return "<AdaptationSet mimeType=\"video/mp2t\">\n<Representation \(id)/></AdaptationSet>"
        }
        let found = try parseManifest(RuleManifest.with(sets.joined(separator: "\n"))).validated()
        #expect(found.count == 1_000)
        #expect(found.allSatisfy { $0.code == .missingSegmentInformation })
        #expect(found.map { $0.line ?? 0 } == found.map { $0.line ?? 0 }.sorted())
    }

    @Test func elementThatRepresentationsShareIsReportedOnce() throws {
        let representations = (0..<50).map { #"<Representation id="r\#($0)" bandwidth="1"/>"# }.joined()
        let text = RuleManifest.templated(#"media="$RepresentationID$-$Time$.m4s" duration="4""#)
            .replacing(RuleManifest.representation, with: representations)
        #expect(try parseManifest(text).validated().map(\.code) == [.timeWithoutTimeline])
    }

    /// The page `docs/formats/manifest-rules.md` lists each rule in a row of a table.
    @Test func documentationListsEveryRule() throws {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../docs/formats/manifest-rules.md").standardizedFileURL
        let rows = try String(contentsOf: page, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("| `") }
        let expected = ManifestRule.all.map { rule in
            let definition = rule.definition
            return
                "| `\(rule.rawValue)` | \(definition.severity.rawValue) | \(definition.section) | \(definition.statement) |"
        }
        #expect(rows.map(String.init) == expected)
    }
}
