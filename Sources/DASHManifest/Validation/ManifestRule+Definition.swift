/// A rule for manifests, with its source.
package struct ManifestRuleDefinition: Sendable, Hashable {
    /// The severity of violations: an error for a *shall*, a warning for a *should*.
    package let severity: ManifestDiagnostic.Severity
    /// The clause of ISO/IEC 23009-1:2022 that contains the rule.
    package let section: String
    /// The requirement or recommendation as a sentence, for display.
    package let statement: String
}

extension ManifestRule {
    /// The rules that a manifest can break, in the order of the standard.
    package static let all = allCases.filter { $0 != .omittedDiagnostics }

    /// The clause, severity and statement of the rule.
    package var definition: ManifestRuleDefinition {
        switch self {
        case .foreignNamespace:
            should("5.2.2", "The namespace of the root element must be urn:mpeg:dash:schema:mpd:2011.")
        case .undeclaredPrefix: should("5.2.2", "A prefix of a name must be declared.")
        case .unknownElement:
            note("5.2.2", "Elements without a namespace of their own should be those of the standard.")
        case .misplacedElement: should("5.2.2", "An element must be within an element that may contain it.")
        case .unknownAttribute: note("5.2.2", "Attributes without a namespace should be those of the standard.")
        case .missingAttribute: must("5.2.2", "An element must have its mandatory attributes.")
        case .invalidValue: must("5.2.2", "The value of an attribute must have the form of its type.")
        case .negativeDuration: must("5.2.2", "A duration must not be negative.")
        case .calendarDuration: should("5.2.2", "A duration should not have years or months, whose length varies.")
        case .missingTimeZone: should("5.2.2", "A date should have a time zone.")
        case .omittedDiagnostics: note("5", "Diagnostics beyond the limit are counted.")

        case .noPeriod: must("5.3.1.2", "A manifest must have a Period.")
        case .invalidType: must("5.3.1.2", "MPD@type must be static or dynamic.")
        case .emptyProfiles: must("5.3.1.2", "MPD@profiles must name at least one profile.")
        case .unknownProfile:
            should("8.1", "A profile whose name begins with urn:mpeg:dash:profile: should be one of the standard.")
        case .missingAvailabilityStart: must("5.3.1.2", "A dynamic manifest must have MPD@availabilityStartTime.")
        case .missingPublishTime: must("5.3.1.2", "A dynamic manifest must have MPD@publishTime.")
        case .missingDuration:
            must(
                "5.3.1.2",
                "A manifest must have MPD@mediaPresentationDuration, MPD@minimumUpdatePeriod, or a duration in its "
                    + "last Period."
            )
        case .updatePeriodInStatic: must("5.3.1.2", "A static manifest must not have MPD@minimumUpdatePeriod.")
        case .windowInStatic:
            should(
                "5.3.1.2",
                "A static manifest should not have MPD@timeShiftBufferDepth or MPD@suggestedPresentationDelay."
            )
        case .availabilityEndBeforeStart:
            must("5.3.1.2", "MPD@availabilityEndTime must be later than MPD@availabilityStartTime.")
        case .programInformationWithoutLanguage:
            must("5.3.1.2", "If there are several ProgramInformation elements, each must have a lang attribute.")

        case .missingPeriodID: must("5.3.2.2", "Each Period of a dynamic manifest must have an id.")
        case .duplicatePeriodID: must("5.3.2.2", "Two periods must not have the same id.")
        case .staticPeriodStart: must("5.3.2.1", "The first Period of a static manifest must start at 0.")
        case .missingPeriodStart:
            must(
                "5.3.2.1",
                "Each Period of a static manifest must have a start, or follow a Period with a known end."
            )
        case .periodOrder: must("5.3.2.1", "Periods must be in the order of their starts.")
        case .periodOverlap: should("5.3.2.1", "A Period should not last longer than until the start of the next one.")
        case .periodBeyondEnd: must("5.3.2.1", "A Period must start before the end of the presentation.")
        case .emptyPeriod: must("5.3.2.2", "A Period must have an AdaptationSet unless its duration is 0.")
        case .bitstreamSwitchingDiffers:
            must(
                "5.3.2.2",
                "If bitstreamSwitching of a Period is true, it must not be false in its AdaptationSet elements."
            )

        case .duplicateAdaptationSetID:
            must("5.3.3.2", "Two AdaptationSet elements of a Period must not have the same id.")
        case .emptyAdaptationSet: must("5.3.3.2", "An AdaptationSet must have a Representation.")
        case .invalidContentType:
            must("5.3.3.2", "A content type must be a top-level media type such as video, audio or text.")
        case .contentTypeDiffers:
            must("5.3.3.2", "The content type of an AdaptationSet must be that of its Representation elements.")
        case .invalidLanguage: must("5.3.3.2", "A language must be a tag of RFC 5646.")
        case .minimumExceedsMaximum:
            must("5.3.3.2", "The minimum of a value must not be greater than its maximum.")
        case .outsideDeclaredRange:
            must("5.3.3.2", "A Representation must be within the minimum and maximum values of its AdaptationSet.")
        case .repeatedComponentAttribute:
            must("5.3.4.2", "A ContentComponent must not repeat an attribute of its AdaptationSet.")

        case .duplicateRepresentation:
            should(
                "5.3.5.2",
                "Two Representation elements of a Period should not have the same id; it is only allowed if they are "
                    + "functionally identical."
            )
        case .identifierWithSpace: must("5.3.5.2", "The id of a Representation must not contain white space.")
        case .missingMimeType:
            must("5.3.7.2", "A Representation or its AdaptationSet must have a mimeType attribute.")
        case .invalidMimeType: must("5.3.7.2", "A mimeType must be a type and a subtype, separated by a slash.")
        case .missingCodecs:
            should("5.3.7.2", "A Representation of video or audio in MP4 files should have a codecs attribute.")
        case .zeroBandwidth: should("5.3.5.2", "The bandwidth of a Representation should be greater than 0.")
        case .unknownDependency:
            must("5.3.5.2", "A Representation must depend on, or be associated with, others of the same Period.")
        case .associationTypeAlone: must("5.3.5.2", "associationType must not be present without associationId.")
        case .subRepresentationWithoutBandwidth:
            must("5.3.6.2", "A SubRepresentation with a level must have a bandwidth.")
        case .invalidAccessPointType: must("5.3.7.2", "The type of a stream access point must be from 0 to 6.")
        case .invalidScanType: must("5.3.7.2", "scanType must be progressive, interlaced or unknown.")
        case .unknownSubsetMember:
            must("5.3.8.2", "A Subset must contain the identifiers of AdaptationSet elements of its Period.")
        case .subsetOfAll: should("5.3.8.1", "A Subset should not contain all AdaptationSet elements.")
        case .unknownPreselectionComponent:
            must("5.3.11.2", "A Preselection must name AdaptationSet or ContentComponent elements of its Period.")

        case .severalSegmentInformation:
            must(
                "5.3.9.1",
                "An element must not have more than one of SegmentBase, SegmentList and SegmentTemplate."
            )
        case .missingSegmentInformation:
            must(
                "5.3.9.1",
                "A Representation, its AdaptationSet or its Period must have a SegmentBase, SegmentList, "
                    + "SegmentTemplate or BaseURL."
            )
        case .exactWithoutIndexRange: must("5.3.9.2.2", "indexRangeExact must not be present without indexRange.")
        case .zeroTimescale: must("5.3.9.2.2", "A timescale must be greater than 0.")
        case .zeroSegmentDuration: must("5.3.9.2.2", "The duration of segments must be greater than 0.")
        case .missingSegmentDuration:
            must("5.3.9.2.2", "If there are several segments, there must be a duration or a SegmentTimeline.")
        case .durationAndTimeline: must("5.3.9.2.2", "There must not be both a duration and a SegmentTimeline.")
        case .endNumberBeforeStart: must("5.3.9.2.2", "endNumber must not be less than startNumber.")
        case .segmentWithoutAddress: must("5.3.9.3.2", "A SegmentURL must have media or mediaRange.")
        case .segmentExceedsMaximum: must("5.3.1.2", "No segment must be longer than MPD@maxSegmentDuration.")
        case .completeWithoutOffset:
            must("5.3.9.5.3", "availabilityTimeComplete must not be present without availabilityTimeOffset.")
        case .missingMediaTemplate:
            must("5.3.9.4.2", "A SegmentTemplate for several segments must have a media attribute.")
        case .invalidTemplate:
            must(
                "5.3.9.4.4",
                "A template must contain only identifiers of the standard between dollar signs, with a format of %0 "
                    + "and a width, and $$ for a dollar sign."
            )
        case .timeWithoutTimeline: must("5.3.9.4.4", "$Time$ must not be used without a SegmentTimeline.")
        case .numberAndTime: must("5.3.9.4.4", "A template must not contain both $Number$ and $Time$.")
        case .subNumberAlone: must("5.3.9.4.4", "A template with $SubNumber$ must contain $Number$ or $Time$.")
        case .segmentIdentifierInInitialization:
            must(
                "5.3.9.4.2",
                "Templates of initialization and bitstream switching segments must not contain $Number$, $Time$ or "
                    + "$SubNumber$."
            )
        case .sharedSegmentAddresses:
            should("5.3.9.4.4", "Templates should give the segments of different representations different URLs.")
        case .emptyTimeline: must("5.3.9.6.2", "A SegmentTimeline must have an S element.")
        case .invalidTimeline:
            must("5.3.9.6.2", "The time of an S element must not be earlier than the end of the previous one.")
        case .invalidRepeatCount: must("5.3.9.6.2", "A repeat count must be -1 or more.")
        case .openRepeatWithoutTime:
            must("5.3.9.6.2", "The S element after one with a negative repeat count must have a time.")

        case .invalidActuate: must("5.5.2", "xlink:actuate must be onLoad or onRequest.")
        case .actuateWithoutLink: should("5.5.2", "xlink:actuate should not be present without xlink:href.")

        case .unknownRole: must("5.8.5.5", "A role of urn:mpeg:dash:role:2011 must be one of the standard.")
        case .missingSchemeType:
            must(
                "5.8.5.2",
                "The value of a ContentProtection of urn:mpeg:dash:mp4protection:2011 must be the four-character code "
                    + "of the scheme."
            )
        case .invalidKeyID: must("5.8.5.2", "A default key identifier must be a UUID.")
        case .unknownProtectionReference:
            must("5.8.4.1", "The ref of a ContentProtection must be the refId of another one.")
        case .unknownFramePacking: must("5.8.5.6", "The scheme of a FramePacking must be one of the standard.")
        case .framePackingOfOtherCodec:
            must("5.8.5.6", "Frame packing of ISO/IEC 14496-10 must only describe video of ISO/IEC 14496-10.")
        case .invalidChannelConfiguration:
            must(
                "5.8.5.4",
                "The value of an AudioChannelConfiguration must be a channel count, a channel configuration or a list "
                    + "of positions, as its scheme requires."
            )

        case .duplicateEventStream:
            must("5.10.2.1", "A Period must not have two EventStream elements with the same scheme and value.")
        case .eventOrder: should("5.10.2.2", "Events should be in the order of their presentation times.")
        case .eventWithTwoMessages: must("5.10.2.2", "An Event must not have both messageData and contents.")

        case .patchLocationWithoutID: must("5.15.2", "A manifest with a PatchLocation must have MPD@id.")
        case .unknownServiceLocation:
            should("K.3.2", "The default service location should be that of a BaseURL or Location.")

        case .dynamicOnDemand: must("8.3.2", "A manifest of the on-demand profile must be static.")
        case .onDemandWithSegments:
            must("8.3.2", "A manifest of the on-demand profile alone must not have SegmentList or SegmentTemplate.")
        case .liveWithoutTemplate:
            must(
                "8.4.2",
                "In a manifest of the live profile alone, each Representation, its AdaptationSet or its Period must "
                    + "have a SegmentTemplate."
            )
        }
    }

    private func must(_ section: String, _ statement: String) -> ManifestRuleDefinition {
        ManifestRuleDefinition(severity: .error, section: section, statement: statement)
    }

    private func should(_ section: String, _ statement: String) -> ManifestRuleDefinition {
        ManifestRuleDefinition(severity: .warning, section: section, statement: statement)
    }

    private func note(_ section: String, _ statement: String) -> ManifestRuleDefinition {
        ManifestRuleDefinition(severity: .note, section: section, statement: statement)
    }
}
