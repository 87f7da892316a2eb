/// The rules for manifests, each with a stable identifier that logs and filters can use.
///
/// The parser reports the violations that it notices while it reads; ``MediaPresentation/validated()`` checks all rules.
/// The clause, severity and statement of each rule are in ``definition``.
package enum ManifestRule: String, Sendable, Hashable, CaseIterable {
    // ISO/IEC 23009-1:2022 §5.2
    case foreignNamespace = "dash-foreign-namespace"
    case undeclaredPrefix = "dash-undeclared-prefix"
    case unknownElement = "dash-unknown-element"
    case misplacedElement = "dash-misplaced-element"
    case unknownAttribute = "dash-unknown-attribute"
    case missingAttribute = "dash-missing-attribute"
    case invalidValue = "dash-invalid-value"
    case negativeDuration = "dash-negative-duration"
    case calendarDuration = "dash-calendar-duration"
    case missingTimeZone = "dash-missing-time-zone"
    case omittedDiagnostics = "dash-omitted-diagnostics"

    // §5.3.1
    case noPeriod = "dash-no-period"
    case invalidType = "dash-invalid-type"
    case emptyProfiles = "dash-empty-profiles"
    case unknownProfile = "dash-unknown-profile"
    case missingAvailabilityStart = "dash-missing-availability-start"
    case missingPublishTime = "dash-missing-publish-time"
    case missingDuration = "dash-missing-duration"
    case updatePeriodInStatic = "dash-update-period-in-static"
    case windowInStatic = "dash-window-in-static"
    case availabilityEndBeforeStart = "dash-availability-end-before-start"
    case programInformationWithoutLanguage = "dash-program-information-without-language"

    // §5.3.2
    case missingPeriodID = "dash-missing-period-id"
    case duplicatePeriodID = "dash-duplicate-period-id"
    case staticPeriodStart = "dash-static-period-start"
    case missingPeriodStart = "dash-missing-period-start"
    case periodOrder = "dash-period-order"
    case periodOverlap = "dash-period-overlap"
    case periodBeyondEnd = "dash-period-beyond-end"
    case emptyPeriod = "dash-empty-period"
    case bitstreamSwitchingDiffers = "dash-bitstream-switching-differs"

    // §5.3.3, §5.3.4
    case duplicateAdaptationSetID = "dash-duplicate-adaptation-set-id"
    case emptyAdaptationSet = "dash-empty-adaptation-set"
    case invalidContentType = "dash-invalid-content-type"
    case contentTypeDiffers = "dash-content-type-differs"
    case invalidLanguage = "dash-invalid-language"
    case minimumExceedsMaximum = "dash-minimum-exceeds-maximum"
    case outsideDeclaredRange = "dash-outside-declared-range"
    case repeatedComponentAttribute = "dash-repeated-component-attribute"

    // §5.3.5 to §5.3.8, §5.3.11
    case duplicateRepresentation = "dash-duplicate-representation-id"
    case identifierWithSpace = "dash-identifier-with-space"
    case missingMimeType = "dash-missing-mime-type"
    case invalidMimeType = "dash-invalid-mime-type"
    case missingCodecs = "dash-missing-codecs"
    case zeroBandwidth = "dash-zero-bandwidth"
    case unknownDependency = "dash-unknown-dependency"
    case associationTypeAlone = "dash-association-type-alone"
    case subRepresentationWithoutBandwidth = "dash-sub-representation-without-bandwidth"
    case invalidAccessPointType = "dash-invalid-access-point-type"
    case invalidScanType = "dash-invalid-scan-type"
    case unknownSubsetMember = "dash-unknown-subset-member"
    case subsetOfAll = "dash-subset-of-all"
    case unknownPreselectionComponent = "dash-unknown-preselection-component"

    // §5.3.9
    case severalSegmentInformation = "dash-several-segment-information"
    case missingSegmentInformation = "dash-missing-segment-information"
    case exactWithoutIndexRange = "dash-exact-without-index-range"
    case zeroTimescale = "dash-zero-timescale"
    case zeroSegmentDuration = "dash-zero-segment-duration"
    case missingSegmentDuration = "dash-missing-segment-duration"
    case durationAndTimeline = "dash-duration-and-timeline"
    case endNumberBeforeStart = "dash-end-number-before-start"
    case segmentWithoutAddress = "dash-segment-without-address"
    case segmentExceedsMaximum = "dash-segment-exceeds-maximum"
    case completeWithoutOffset = "dash-complete-without-offset"
    case missingMediaTemplate = "dash-missing-media-template"
    case invalidTemplate = "dash-invalid-template"
    case timeWithoutTimeline = "dash-time-without-timeline"
    case numberAndTime = "dash-number-and-time"
    case subNumberAlone = "dash-sub-number-alone"
    case segmentIdentifierInInitialization = "dash-segment-identifier-in-initialization"
    case sharedSegmentAddresses = "dash-shared-segment-addresses"
    case emptyTimeline = "dash-empty-timeline"
    case invalidTimeline = "dash-invalid-timeline"
    case invalidRepeatCount = "dash-invalid-repeat-count"
    case openRepeatWithoutTime = "dash-open-repeat-without-time"

    // §5.5
    case invalidActuate = "dash-invalid-actuate"
    case actuateWithoutLink = "dash-actuate-without-link"

    // §5.8
    case unknownRole = "dash-unknown-role"
    case missingSchemeType = "dash-missing-scheme-type"
    case invalidKeyID = "dash-invalid-key-id"
    case unknownProtectionReference = "dash-unknown-protection-reference"
    case unknownFramePacking = "dash-unknown-frame-packing"
    case framePackingOfOtherCodec = "dash-frame-packing-of-other-codec"
    case invalidChannelConfiguration = "dash-invalid-channel-configuration"

    // §5.10
    case duplicateEventStream = "dash-duplicate-event-stream"
    case eventOrder = "dash-event-order"
    case eventWithTwoMessages = "dash-event-with-two-messages"

    // §5.15, K.3
    case patchLocationWithoutID = "dash-patch-location-without-id"
    case unknownServiceLocation = "dash-unknown-service-location"

    // §8.3, §8.4
    case dynamicOnDemand = "dash-dynamic-on-demand"
    case onDemandWithSegments = "dash-on-demand-with-segments"
    case liveWithoutTemplate = "dash-live-without-template"
}
