import DASHManifest
import Foundation
import SharedCorpus
import Testing

/// Compares the violations with those that the Schematron rules of the DASH Industry Forum find.
@Suite(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
struct SchematronTests {
    private static let folder =
        "corpus/dash/carlanton__mpd-tools/validator/src/test/resources/schematron/examples"

    private struct Verdict: Decodable {
        let failures: [String]
        private enum CodingKeys: String, CodingKey { case failures = "failed_asserts" }
    }

    /// The rule that has the meaning of an assertion; assertions are identified by the beginning of their text.
    private static let rules: [(assertion: String, rule: ManifestRule)] = [
        (#"If MPD is of type "dynamic" publishTime"#, .missingPublishTime),
        (#"If MPD is of type "static" and the first period"#, .staticPeriodStart),
        ("If bitstreamSwitching is set to true", .bitstreamSwitchingDiffers),
        ("Attributes from the AdaptationSet shall not be repeated", .repeatedComponentAttribute),
        ("Each minimum value", .minimumExceedsMaximum),
        ("At least one BaseURL, SegmentTemplate or SegmentList", .missingSegmentInformation),
        ("An AdaptationSet shall have at least one Representation", .emptyAdaptationSet),
        ("Either the Representation or the containing AdaptationSet", .missingMimeType),
        ("If more than one Media Segment is present", .missingSegmentDuration),
        ("If indexRange is not present indexRangeExact", .exactWithoutIndexRange),
        ("Neither $Number$ nor the $Time$ identifier", .segmentIdentifierInInitialization),
        ("Either the duration attribute or SegmentTimeline", .durationAndTimeline),
        ("At most one of SegmentBase, SegmentTemplate and SegmentList", .severalSegmentInformation),
        ("If more than one ProgramInformation", .programInformationWithoutLanguage),
        ("The value of ContentProtection shall be the 4CC", .missingSchemeType),
        ("The value of Role (role)", .unknownRole),
        (#"For On-Demand profile, the MPD @type shall be "static""#, .dynamicOnDemand),
        ("For live profile, the SegmentTemplate element", .liveWithoutTemplate),
        ("schemeIdUri for FramePacking", .unknownFramePacking),
        ("The URI urn:mpeg:dash:14496:10:frame_packing", .framePackingOfOtherCodec),
        ("If URI urn:mpeg:dash:outputChannelPositionList:2012", .invalidChannelConfiguration),
    ]

    private static func rule(of assertion: String) -> ManifestRule? {
        rules.first { assertion.hasPrefix($0.assertion) }?.rule
    }

    /// The assertions that are no rules of ISO/IEC 23009-1, each with the reason.
    private static let otherAssertions: [(assertion: String, reason: String)] = [
        ("DASH264 Section", "It is an interoperability guideline of the forum, not a rule of the standard."),
        ("The On-Demand profile shall be identified", "Other organizations define profiles too (§5.3.1.2)."),
        (
            "The ContentProtection descriptors shall always be present in the AdaptationSet",
            "It is an element of RepresentationBaseType, so a Representation may have it (§5.3.7.2)."
        ),
    ]

    @Test func violationsAreThoseOfTheSchematronRules() throws {
        var disagreements: Set<String> = []
        var compared = 0
        for file in try SharedCorpus.files(below: Self.folder, extensions: ["mpd"]) {
            let name = file.deletingPathExtension().lastPathComponent
            let verdict = try JSONDecoder().decode(
                Verdict.self,
                from: Data(SharedCorpus.bytes("\(Self.folder)/\(name).mpd.expected.json"))
            )
            var theirs: Set<String> = []
            for assertion in verdict.failures {
                if let rule = Self.rule(of: assertion) {
                    theirs.insert(rule.rawValue)
                } else if !Self.otherAssertions.contains(where: { assertion.hasPrefix($0.assertion) }) {
                    theirs.insert(assertion)
                }
            }
            let ours = Set(
                try parseManifest(at: file).validated().filter { $0.severity == .error }.map(\.code.rawValue)
            )
            for rule in ours.subtracting(theirs) { disagreements.insert("\(name): only here: \(rule)") }
            for rule in theirs.subtracting(ours) { disagreements.insert("\(name): only there: \(rule.prefix(60))") }
            compared += 1
        }
        #expect(compared == 34)
        for item in disagreements.sorted() where Self.disagreements[item] == nil {
            Issue.record("not listed: \(item)")
        }
        #expect(Set(Self.disagreements.keys) == disagreements)
    }

    /// The disagreements, each with the reason for which the violation is or is not reported here.
    private static let disagreements: [String: String] = [
        "ex09: only here: dash-period-order":
            "The third Period starts before the second one.",
        "ex13: only here: dash-outside-declared-range":
            "The bandwidth of the Representation is greater than maxBandwidth.",
        "ex15: only there: dash-missing-segment-information":
            "There is no Representation whose segments could be missing.",
        "ex19: only here: dash-time-without-timeline":
            "The template has $Time$, and there is no SegmentTimeline.",
        "ex19: only there: dash-missing-segment-duration":
            "The missing SegmentTimeline is reported already; a duration would not replace it.",
        "ex21: only here: dash-time-without-timeline":
            "The template has $Time$, and there is no SegmentTimeline.",
        "ex23: only here: dash-time-without-timeline":
            "The template has $Time$, and there is no SegmentTimeline.",
        "ex37: only here: dash-invalid-type":
            "staticX is no type.",
        "ex37: only here: dash-on-demand-with-segments":
            "The manifest of the on-demand profile has SegmentList elements.",
        "ex37: only there: dash-dynamic-on-demand":
            "The invalid type is reported already.",
        "ex49: only there: dash-invalid-channel-configuration":
            "A list with one item is a list.",
        "ex51: only here: dash-invalid-template":
            "The identifier $Bandwidth% has no second dollar sign.",
        "ex51: only here: dash-missing-publish-time":
            "The manifest is dynamic and has no publishTime.",
        "ex51: only there: dash-missing-segment-information":
            "All AdaptationSet elements have a SegmentTemplate; the verdict is that of another file.",
        "ex53: only there: dash-missing-publish-time":
            "The manifest is static; the verdict is that of another file.",
        "ex55: only here: dash-invalid-value":
            "The value 7632 of indexRange is no range.",
        "ex55: only there: dash-frame-packing-of-other-codec":
            "The manifest has no FramePacking; the verdict is that of another file.",
        "ex55: only there: dash-missing-publish-time":
            "The manifest is static; the verdict is that of another file.",
        "ex57: only here: dash-missing-attribute":
            "The MPD element has no attributes at all.",
        "ex57: only here: dash-missing-duration":
            "The MPD element has no attributes at all.",
        "ex57: only here: dash-missing-segment-information":
            "No Representation has segments.",
        "ex57: only there: dash-missing-publish-time":
            "The manifest is static; the verdict is that of another file.",
        "ex57: only there: dash-unknown-frame-packing":
            "The manifest has no FramePacking; the verdict is that of another file.",
        "exRD3_0: only here: dash-invalid-value":
            "The value 2S of maxSegmentDuration is no duration.",
        "exRD5_0: only here: dash-invalid-value":
            "The value 2S of maxSegmentDuration is no duration.",
        "exRD5_1: only here: dash-invalid-value":
            "The value 2S of maxSegmentDuration is no duration.",
    ]
}
