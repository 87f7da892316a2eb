import DASHManifest

/// A manifest that breaks one rule and no other.
struct RuleManifest {
    let rule: ManifestRule
    let text: String

    init(_ rule: ManifestRule, _ text: String) {
        self.rule = rule
        self.text = text
    }

    // MARK: Parts

    static let template =
        #"<SegmentTemplate media="$RepresentationID$-$Number$.m4s" initialization="i.mp4" duration="4"/>"#
    static let representation = #"<Representation id="a" bandwidth="1000"/>"#
    static let live = #"type="dynamic" availabilityStartTime="2024-01-01T00:00:00Z" minimumUpdatePeriod="PT2S""#
    static let published = #"publishTime="2024-01-01T00:00:00Z""#
    static let dynamic = "\(live) \(published)"

    /// Returns a manifest with the given attributes, elements before the periods, and periods.
    static func manifest(
        _ attributes: String = #"type="static" mediaPresentationDuration="PT8S""#,
        profiles: String = "urn:mpeg:dash:profile:full:2011",
        head: String = "",
        periods: String = period()
    ) -> String {
        """
        <?xml version="1.0"?>
        <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:xlink="http://www.w3.org/1999/xlink"
          xmlns:cenc="urn:mpeg:cenc:2013" profiles="\(profiles)" minBufferTime="PT2S" \(attributes)>
        \(head)
        \(periods)
        </MPD>
        """
    }

    static func period(_ attributes: String = #"id="p""#, _ contents: String = set()) -> String {
        "<Period \(attributes)>\n\(contents)\n</Period>"
    }

    /// Returns an adaptation set with a segment template.
    static func set(
        _ attributes: String = #"id="1" contentType="video""#,
        type: String = #"mimeType="video/mp4" codecs="avc1.4d401f""#,
        _ contents: String = "\(template)\n\(representation)"
    ) -> String {
        "<AdaptationSet \(attributes) \(type)>\n\(contents)\n</AdaptationSet>"
    }

    /// Returns a manifest with one period, which has the given contents.
    static func with(_ contents: String, attributes: String = #"id="p""#) -> String {
        manifest(periods: period(attributes, contents))
    }

    /// Returns a manifest with one set, which has the given elements before its representation.
    static func inSet(_ contents: String) -> String { with(filled("\(contents)\n\(template)\n\(representation)")) }

    /// Returns a manifest with one set, which has the given attributes.
    static func setWith(_ attributes: String) -> String { with(set(#"id="1" \#(attributes)"#)) }

    /// Returns a manifest with one representation, which has the given attributes and contents.
    static func representation(_ attributes: String, _ contents: String = "") -> String {
        with(filled("\(template)\n<Representation \(attributes)>\(contents)</Representation>"))
    }

    /// Returns a manifest with one set, which has the given segment information.
    static func segments(_ information: String) -> String { with(filled("\(information)\n\(representation)")) }

    /// Returns a manifest with a segment template, which has the given attributes.
    static func templated(_ attributes: String) -> String {
        segments(#"<SegmentTemplate initialization="i.mp4" \#(attributes)/>"#)
    }

    /// Returns a manifest with a segment timeline.
    static func timeline(_ entries: String, attributes: String = "") -> String {
        segments(
            #"<SegmentTemplate media="$RepresentationID$-$Time$.m4s" \#(attributes)>"#
                + "<SegmentTimeline>\(entries)</SegmentTimeline></SegmentTemplate>"
        )
    }

    /// Returns an adaptation set with the given contents.
    private static func filled(_ contents: String) -> String { set(#"id="1" contentType="video""#, contents) }

    // MARK: The table

    static let all: [RuleManifest] = documents + presentations + periods + sets + segmentInformation + descriptors

    private static let documents = [
        RuleManifest(
            .foreignNamespace,
            manifest().replacing("urn:mpeg:dash:schema:mpd:2011", with: "urn:mpeg:DASH:schema:MPD:2011")
        ),
        RuleManifest(.undeclaredPrefix, inSet("<scte35:Signal/>")),
        RuleManifest(.unknownElement, inSet("<Signal/>")),
        RuleManifest(.misplacedElement, inSet("<Location>a.mpd</Location>")),
        RuleManifest(.unknownAttribute, setWith(#"signal="1""#)),
        RuleManifest(.missingAttribute, representation(#"id="a""#)),
        RuleManifest(.invalidValue, representation(#"id="a" bandwidth="fast""#)),
        RuleManifest(.negativeDuration, manifest(#"mediaPresentationDuration="PT8S" maxSegmentDuration="-PT4S""#)),
        RuleManifest(.calendarDuration, manifest(#"mediaPresentationDuration="P1M""#)),
        RuleManifest(
            .missingTimeZone,
            manifest("\(live) publishTime=\"2024-01-01T00:00:00\"")
        ),
    ]

    private static let presentations = [
        RuleManifest(.noPeriod, manifest(periods: "")),
        RuleManifest(.invalidType, manifest(#"type="live" mediaPresentationDuration="PT8S""#)),
        RuleManifest(.emptyProfiles, manifest(profiles: " ")),
        RuleManifest(.unknownProfile, manifest(profiles: "urn:mpeg:dash:profile:isoff-demand:2011")),
        RuleManifest(.missingAvailabilityStart, manifest("type=\"dynamic\" minimumUpdatePeriod=\"PT2S\" \(published)")),
        RuleManifest(.missingPublishTime, manifest(live)),
        RuleManifest(.missingDuration, manifest("")),
        RuleManifest(.updatePeriodInStatic, manifest(#"mediaPresentationDuration="PT8S" minimumUpdatePeriod="PT2S""#)),
        RuleManifest(.windowInStatic, manifest(#"mediaPresentationDuration="PT8S" timeShiftBufferDepth="PT8S""#)),
        RuleManifest(
            .availabilityEndBeforeStart,
            manifest("\(dynamic) availabilityEndTime=\"2023-01-01T00:00:00Z\"")
        ),
        RuleManifest(
            .programInformationWithoutLanguage,
            manifest(head: #"<ProgramInformation lang="en"/><ProgramInformation/>"#)
        ),
        RuleManifest(.patchLocationWithoutID, manifest(dynamic, head: "<PatchLocation>a.mpp</PatchLocation>")),
        RuleManifest(
            .unknownServiceLocation,
            manifest(
                head: #"<BaseURL serviceLocation="a">a/</BaseURL>"#
                    + #"<ContentSteering defaultServiceLocation="b">https://example.test/</ContentSteering>"#
            )
        ),
        RuleManifest(
            .dynamicOnDemand,
            manifest(
                dynamic,
                profiles: "urn:mpeg:dash:profile:isoff-on-demand:2011,urn:mpeg:dash:profile:isoff-live:2011"
            )
        ),
        RuleManifest(.onDemandWithSegments, manifest(profiles: "urn:mpeg:dash:profile:isoff-on-demand:2011")),
        RuleManifest(
            .liveWithoutTemplate,
            manifest(
                profiles: "urn:mpeg:dash:profile:isoff-live:2011",
                periods: period(#"id="p""#, filled(#"<SegmentBase indexRange="0-9"/>\#(representation)"#))
            )
        ),
    ]

    private static let periods = [
        RuleManifest(.missingPeriodID, manifest(dynamic, periods: period(""))),
        RuleManifest(
            .duplicatePeriodID,
            manifest(periods: period(#"id="p" duration="PT4S""#) + period(#"id="p" duration="PT4S""#))
        ),
        RuleManifest(.staticPeriodStart, with(set(), attributes: #"id="p" start="PT2S""#)),
        RuleManifest(.missingPeriodStart, manifest(periods: period(#"id="p""#) + period(#"id="q""#))),
        RuleManifest(
            .periodOrder,
            manifest(
                periods: period(#"id="p" start="PT0S""#) + period(#"id="q" start="PT6S""#)
                    + period(#"id="r" start="PT4S""#)
            )
        ),
        RuleManifest(
            .periodOverlap,
            manifest(periods: period(#"id="p" duration="PT6S""#) + period(#"id="q" start="PT4S""#))
        ),
        RuleManifest(
            .periodBeyondEnd,
            manifest(periods: period(#"id="p" duration="PT8S""#) + period(#"id="q" start="PT9S""#))
        ),
        RuleManifest(.emptyPeriod, with("")),
        RuleManifest(
            .bitstreamSwitchingDiffers,
            with(set(#"bitstreamSwitching="false""#), attributes: #"id="p" bitstreamSwitching="true""#)
        ),
        RuleManifest(.unknownSubsetMember, with(#"\#(set())<Subset contains="2"/>"#)),
        RuleManifest(.subsetOfAll, with(#"\#(set())<Subset contains="1"/>"#)),
        RuleManifest(.unknownPreselectionComponent, with(#"\#(set())<Preselection preselectionComponents="2"/>"#)),
        RuleManifest(
            .duplicateEventStream,
            with(#"<EventStream schemeIdUri="urn:a"/><EventStream schemeIdUri="urn:a"/>\#(set())"#)
        ),
        RuleManifest(
            .eventOrder,
            with(
                #"<EventStream schemeIdUri="urn:a"><Event presentationTime="2"/><Event presentationTime="1"/>"#
                    + "</EventStream>\(set())"
            )
        ),
        RuleManifest(
            .eventWithTwoMessages,
            with(#"<EventStream schemeIdUri="urn:a"><Event messageData="a">b</Event></EventStream>\#(set())"#)
        ),
        RuleManifest(
            .invalidActuate,
            manifest(periods: period(#"id="p" xlink:href="https://example.test/p" xlink:actuate="later""#))
        ),
        RuleManifest(.actuateWithoutLink, manifest(periods: period(#"id="p" xlink:actuate="onLoad""#))),
    ]

    private static let sets = [
        RuleManifest(
            .duplicateAdaptationSetID,
            with(set() + set().replacing(representation, with: #"<Representation id="b" bandwidth="1"/>"#))
        ),
        RuleManifest(.emptyAdaptationSet, with(filled(template))),
        RuleManifest(.invalidContentType, setWith(#"contentType="picture""#)),
        RuleManifest(.contentTypeDiffers, setWith(#"contentType="audio""#)),
        RuleManifest(.invalidLanguage, setWith(#"lang="en_US""#)),
        RuleManifest(.minimumExceedsMaximum, setWith(#"minWidth="2" maxWidth="1""#)),
        RuleManifest(.outsideDeclaredRange, setWith(#"maxBandwidth="999""#)),
        RuleManifest(
            .repeatedComponentAttribute,
            inSet(#"<ContentComponent contentType="video"/>"#)
        ),
        RuleManifest(
            .duplicateRepresentation,
            with(filled("\(template)\(representation)<Representation id=\"a\" bandwidth=\"2000\"/>"))
        ),
        RuleManifest(.identifierWithSpace, representation(#"id="a b" bandwidth="1000""#)),
        RuleManifest(.missingMimeType, with(set(#"id="1""#, type: ""))),
        RuleManifest(.invalidMimeType, with(set(type: #"mimeType="mp4" codecs="avc1.4d401f""#))),
        RuleManifest(.missingCodecs, with(set(type: #"mimeType="video/mp4""#))),
        RuleManifest(.zeroBandwidth, representation(#"id="a" bandwidth="0""#)),
        RuleManifest(.unknownDependency, representation(#"id="a" bandwidth="1" dependencyId="b""#)),
        RuleManifest(.associationTypeAlone, representation(#"id="a" bandwidth="1" associationType="cdsc""#)),
        RuleManifest(
            .subRepresentationWithoutBandwidth,
            representation(#"id="a" bandwidth="1""#, #"<SubRepresentation level="0"/>"#)
        ),
        RuleManifest(.invalidAccessPointType, setWith(#"startWithSAP="7""#)),
        RuleManifest(.invalidScanType, setWith(#"scanType="interleaved""#)),
    ]

    private static let segmentInformation = [
        RuleManifest(.severalSegmentInformation, inSet(#"<SegmentTemplate startNumber="1"/>"#)),
        RuleManifest(.missingSegmentInformation, segments("")),
        RuleManifest(.exactWithoutIndexRange, segments(#"<SegmentBase indexRangeExact="true"/>"#)),
        RuleManifest(.zeroTimescale, templated(#"media="$Number$.m4s" duration="4" timescale="0""#)),
        RuleManifest(.zeroSegmentDuration, templated(#"media="$Number$.m4s" duration="0""#)),
        RuleManifest(.missingSegmentDuration, templated(#"media="$Number$.m4s""#)),
        RuleManifest(
            .missingSegmentDuration,
            segments(#"<SegmentList><SegmentURL media="1.m4s"/><SegmentURL media="2.m4s"/></SegmentList>"#)
        ),
        RuleManifest(.durationAndTimeline, timeline(#"<S d="4"/>"#, attributes: #"duration="4""#)),
        RuleManifest(
            .endNumberBeforeStart,
            templated(#"media="$Number$.m4s" duration="4" startNumber="2" endNumber="1""#)
        ),
        RuleManifest(
            .segmentWithoutAddress,
            segments(#"<SegmentList duration="4"><SegmentURL indexRange="0-9"/></SegmentList>"#)
        ),
        RuleManifest(
            .segmentExceedsMaximum,
            manifest(#"mediaPresentationDuration="PT8S" maxSegmentDuration="PT2S""#)
        ),
        RuleManifest(
            .completeWithoutOffset,
            templated(#"media="$Number$.m4s" duration="4" availabilityTimeComplete="false""#)
        ),
        RuleManifest(
            .completeWithoutOffset,
            manifest(head: #"<BaseURL availabilityTimeComplete="false">a/</BaseURL>"#)
        ),
        RuleManifest(.missingMediaTemplate, templated(#"duration="4""#)),
        RuleManifest(.invalidTemplate, templated(#"media="$Number$-$Index$.m4s" duration="4""#)),
        RuleManifest(.invalidTemplate, templated(#"media="$Number$-$.m4s" duration="4""#)),
        RuleManifest(.invalidTemplate, templated(#"media="$Number%5d$.m4s" duration="4""#)),
        RuleManifest(.timeWithoutTimeline, templated(#"media="$Time$.m4s" duration="4""#)),
        RuleManifest(.numberAndTime, timeline(#"<S d="4"/>"#).replacing("$Time$", with: "$Time$-$Number$")),
        RuleManifest(.subNumberAlone, templated(#"media="$SubNumber$.m4s" duration="4""#)),
        RuleManifest(
            .segmentIdentifierInInitialization,
            segments(#"<SegmentTemplate initialization="$Number$.mp4" media="$Number$.m4s" duration="4"/>"#)
        ),
        RuleManifest(
            .segmentIdentifierInInitialization,
            templated(#"media="$Number$.m4s" duration="4" bitstreamSwitching="$Time$.mp4""#)
        ),
        RuleManifest(
            .sharedSegmentAddresses,
            with(
                filled(
                    #"<SegmentTemplate media="$Number$.m4s" duration="4"/>\#(representation)"#
                        + #"<Representation id="b" bandwidth="2000"/>"#
                )
            )
        ),
        RuleManifest(.emptyTimeline, timeline("")),
        RuleManifest(.invalidTimeline, timeline(#"<S t="0" d="4"/><S t="3" d="4"/>"#)),
        RuleManifest(.invalidRepeatCount, timeline(#"<S t="0" d="4" r="-2"/>"#)),
        RuleManifest(.openRepeatWithoutTime, timeline(#"<S t="0" d="4" r="-1"/><S d="4"/>"#)),
    ]

    private static let descriptors = [
        RuleManifest(.unknownRole, inSet(#"<Role schemeIdUri="urn:mpeg:dash:role:2011" value="primary"/>"#)),
        RuleManifest(
            .missingSchemeType,
            inSet(#"<ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011" value="aes"/>"#)
        ),
        RuleManifest(
            .invalidKeyID,
            inSet(
                #"<ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011" value="cenc""#
                    + #" cenc:default_KID="0123456789abcdef0123456789abcdef"/>"#
            )
        ),
        RuleManifest(.unknownProtectionReference, inSet(#"<ContentProtection schemeIdUri="urn:a" ref="b"/>"#)),
        RuleManifest(.unknownFramePacking, inSet(#"<FramePacking schemeIdUri="urn:a" value="3"/>"#)),
        RuleManifest(
            .framePackingOfOtherCodec,
            with(
                set(
                    type: #"mimeType="video/mp4" codecs="hvc1.1.6.L93.90""#,
                    #"<FramePacking schemeIdUri="urn:mpeg:dash:14496:10:frame_packing_arrangement_type:2011" value="3"/>"#
                        + "\(template)\(representation)"
                )
            )
        ),
        RuleManifest(
            .invalidChannelConfiguration,
            inSet(
                #"<AudioChannelConfiguration"#
                    + #" schemeIdUri="urn:mpeg:dash:23003:3:audio_channel_configuration:2011" value="stereo"/>"#
            )
        ),
        RuleManifest(
            .invalidChannelConfiguration,
            inSet(
                #"<AudioChannelConfiguration schemeIdUri="urn:mpeg:dash:outputChannelPositionList:2012" value="0,1"/>"#
            )
        ),
    ]
}
