extension ElementKind {
    private typealias Attribute = ElementDefinition.Attribute

    /// The attributes of `DescriptorType` (ISO/IEC 23009-1:2022 §5.8.2).
    private static let descriptor = [
        Attribute.required(.string, .schemeIdUri), Attribute.optional(.string, .value, .id),
    ]

    /// The attributes of `RepresentationBaseType`, which adaptation sets, representations and others share (§5.3.7).
    private static let common = [
        Attribute.optional(.commaList, .profiles, .codecs, .containerProfiles, .segmentProfiles),
        Attribute.optional(.unsigned, .width, .height, .startWithSAP, .selectionPriority),
        Attribute.optional(.ratio, .sar),
        Attribute.optional(.frameRate, .frameRate),
        Attribute.optional(.string, .audioSamplingRate, .mimeType, .scanType, .tag),
        Attribute.optional(.string, .supplementalCodecs, .supplementalProfiles),
        Attribute.optional(.decimal, .maximumSAPPeriod, .maxPlayoutRate),
        Attribute.optional(.boolean, .codingDependency),
    ]

    /// The elements of `RepresentationBaseType`.
    private static let commonChildren: Set<ElementKind> = [
        .framePacking, .audioChannelConfiguration, .contentProtection, .outputProtection, .essentialProperty,
        .supplementalProperty, .inbandEventStream, .switching, .randomAccess, .groupLabel, .label,
        .producerReferenceTime, .contentPopularityRate, .resynchronization,
    ]

    /// The elements that address segments, and the base URLs.
    private static let addressing: Set<ElementKind> = [.baseURL, .segmentBase, .segmentList, .segmentTemplate]

    /// The attributes of `SegmentBaseType` (§5.3.9.2).
    private static let segmentBaseAttributes = [
        Attribute.optional(.unsigned, .timescale, .presentationDuration),
        Attribute.optional(.integer, .eptDelta, .pdDelta, .presentationTimeOffset),
        Attribute.optional(.duration, .timeShiftBufferDepth),
        Attribute.optional(.byteRange, .indexRange),
        Attribute.optional(.boolean, .indexRangeExact, .availabilityTimeComplete),
        Attribute.optional(.decimal, .availabilityTimeOffset),
    ]

    /// The attributes of `MultipleSegmentBaseType` (§5.3.9.2).
    private static let multipleSegmentAttributes =
        segmentBaseAttributes + [Attribute.optional(.unsigned, .duration, .startNumber, .endNumber)]

    /// The attributes of an element that may be a link to a remote element (§5.5).
    private static let link = [Attribute.optional(.string, .linkReference, .linkActuate)]

    private static let eventStreamAttributes =
        descriptor + [
            Attribute.optional(.unsigned, .timescale), Attribute.optional(.integer, .presentationTimeOffset),
        ]

    /// The definitions of all elements.
    static let definitions: [ElementKind: ElementDefinition] = [
        .presentation: ElementDefinition(
            "5.3.1.2",
            [
                Attribute.required(.commaList, .profiles), Attribute.required(.duration, .minBufferTime),
                Attribute.optional(.string, .id, .type),
                Attribute.optional(.dateTime, .availabilityStartTime, .availabilityEndTime, .publishTime),
                Attribute.optional(
                    .duration,
                    .mediaPresentationDuration,
                    .minimumUpdatePeriod,
                    .timeShiftBufferDepth,
                    .suggestedPresentationDelay,
                    .maxSegmentDuration,
                    .maxSubsegmentDuration
                ),
            ],
            children: [
                .programInformation, .baseURL, .location, .patchLocation, .serviceDescription, .initializationSet,
                .initializationGroup, .initializationPresentation, .contentProtection, .period, .metrics,
                .essentialProperty, .supplementalProperty, .clockSynchronization, .leapSecondInformation,
                .contentSteering,
            ]
        ),
        .programInformation: ElementDefinition(
            "5.3.4",
            [Attribute.optional(.string, .lang, .moreInformationURL)],
            children: [.title, .source, .copyright],
            isOpen: true
        ),
        .title: ElementDefinition("5.3.4", text: .string),
        .source: ElementDefinition("5.3.4", text: .string),
        .copyright: ElementDefinition("5.3.4", text: .string),
        .baseURL: ElementDefinition(
            "5.6",
            [
                Attribute.optional(.string, .serviceLocation, .byteRange), Attribute.optional(.boolean, .rangeAccess),
                Attribute.optional(.decimal, .availabilityTimeOffset),
                Attribute.optional(.boolean, .availabilityTimeComplete),
                Attribute.optional(.duration, .timeShiftBufferDepth),
                Attribute.optional(.unsigned, .dvbPriority, .dvbWeight),
            ],
            text: .string
        ),
        .location: ElementDefinition("5.3.1.2", [Attribute.optional(.string, .serviceLocation)], text: .string),
        .patchLocation: ElementDefinition(
            "5.15.2",
            [Attribute.optional(.decimal, .ttl), Attribute.optional(.string, .serviceLocation)],
            text: .string
        ),
        .serviceDescription: ElementDefinition(
            "K.3",
            [Attribute.optional(.unsigned, .id)],
            children: [
                .scope, .latency, .playbackRate, .operatingQuality, .operatingBandwidth, .contentSteering,
            ],
            isOpen: true
        ),
        .scope: ElementDefinition("K.3.2", descriptor),
        .latency: ElementDefinition("K.3.2", [Attribute.optional(.unsigned, .referenceId, .target, .max, .min)]),
        .playbackRate: ElementDefinition("K.3.2", [Attribute.optional(.decimal, .max, .min)]),
        .operatingQuality: ElementDefinition("K.3.2", [Attribute.optional(.unsigned, .target, .max, .min)]),
        .operatingBandwidth: ElementDefinition("K.3.2", [Attribute.optional(.unsigned, .target, .max, .min)]),
        .contentSteering: ElementDefinition(
            "K.3.2",
            [
                Attribute.optional(.string, .defaultServiceLocation, .proxyServerURL),
                Attribute.optional(.boolean, .queryBeforeStart, .clientRequirement),
            ],
            text: .string
        ),
        .initializationSet: ElementDefinition(
            "5.3.12",
            common + link + [
                Attribute.required(.unsigned, .id), Attribute.optional(.boolean, .inAllPeriods),
                Attribute.optional(.string, .contentType, .initialization), Attribute.optional(.ratio, .par),
                Attribute.optional(.unsigned, .maxWidth, .maxHeight), Attribute.optional(.frameRate, .maxFrameRate),
            ],
            children: commonChildren.union([.accessibility, .role, .rating, .viewpoint])
        ),
        .initializationGroup: ElementDefinition("5.3.12", [Attribute.optional(.unsigned, .id)], text: .string),
        .initializationPresentation: ElementDefinition("5.3.12", [Attribute.optional(.unsigned, .id)], text: .string),
        .contentProtection: ElementDefinition(
            "5.8.4.1",
            descriptor + [
                Attribute.optional(.string, .robustness, .refId, .ref, .contentProtectionDefaultKeyID)
            ],
            isOpen: true
        ),
        .period: ElementDefinition(
            "5.3.2.2",
            link + [
                Attribute.optional(.string, .id), Attribute.optional(.duration, .start, .duration),
                Attribute.optional(.boolean, .bitstreamSwitching),
            ],
            children: addressing.union([
                .assetIdentifier, .eventStream, .serviceDescription, .contentProtection, .adaptationSet, .subset,
                .supplementalProperty, .emptyAdaptationSet, .groupLabel, .preselection,
            ])
        ),
        .metrics: ElementDefinition(
            "5.9",
            [Attribute.required(.string, .metrics)],
            children: [.metricsRange, .reporting]
        ),
        .metricsRange: ElementDefinition("5.9", [Attribute.optional(.duration, .starttime, .duration)]),
        .reporting: ElementDefinition("5.9", descriptor, isOpen: true),
        .essentialProperty: ElementDefinition("5.8.4.8", descriptor, isOpen: true),
        .supplementalProperty: ElementDefinition("5.8.4.9", descriptor, isOpen: true),
        .clockSynchronization: ElementDefinition("5.8.4.11", descriptor, isOpen: true),
        .leapSecondInformation: ElementDefinition(
            "5.13",
            [
                Attribute.required(.integer, .availabilityStartLeapOffset),
                Attribute.optional(.integer, .nextAvailabilityStartLeapOffset),
                Attribute.optional(.dateTime, .nextLeapChangeTime),
            ]
        ),
        .segmentBase: ElementDefinition(
            "5.3.9.2",
            segmentBaseAttributes,
            children: [.initialization, .representationIndex, .failoverContent]
        ),
        .segmentList: ElementDefinition(
            "5.3.9.3",
            link + multipleSegmentAttributes,
            children: [
                .initialization, .representationIndex, .failoverContent, .segmentTimeline, .bitstreamSwitching,
                .segmentURL,
            ]
        ),
        .segmentTemplate: ElementDefinition(
            "5.3.9.4",
            multipleSegmentAttributes + [
                Attribute.optional(.string, .media, .index, .initialization, .bitstreamSwitching)
            ],
            children: [
                .initialization, .representationIndex, .failoverContent, .segmentTimeline, .bitstreamSwitching,
            ]
        ),
        .segmentTimeline: ElementDefinition("5.3.9.6", children: [.timelineEntry]),
        .timelineEntry: ElementDefinition(
            "5.3.9.6",
            [
                Attribute.optional(.unsigned, .t, .n, .k), Attribute.required(.unsigned, .d),
                Attribute.optional(.integer, .r),
            ]
        ),
        .segmentURL: ElementDefinition(
            "5.3.9.3",
            [Attribute.optional(.string, .media, .index), Attribute.optional(.byteRange, .mediaRange, .indexRange)]
        ),
        .initialization: ElementDefinition(
            "5.3.9.2",
            [Attribute.optional(.string, .sourceURL), Attribute.optional(.byteRange, .range)]
        ),
        .representationIndex: ElementDefinition(
            "5.3.9.2",
            [Attribute.optional(.string, .sourceURL), Attribute.optional(.byteRange, .range)]
        ),
        .bitstreamSwitching: ElementDefinition(
            "5.3.9.2",
            [Attribute.optional(.string, .sourceURL), Attribute.optional(.byteRange, .range)]
        ),
        .failoverContent: ElementDefinition("5.3.9.7", children: [.failoverInterval], isOpen: true),
        .failoverInterval: ElementDefinition("5.3.9.7", [Attribute.optional(.unsigned, .t, .d)]),
        .assetIdentifier: ElementDefinition("5.8.4.10", descriptor, isOpen: true),
        .eventStream: ElementDefinition("5.10.2.2", link + eventStreamAttributes, children: [.event], isOpen: true),
        .inbandEventStream: ElementDefinition("5.10.3.2", eventStreamAttributes, isOpen: true),
        .event: ElementDefinition(
            "5.10.2.2",
            [
                Attribute.optional(.unsigned, .presentationTime, .duration),
                Attribute.optional(.string, .id, .contentEncoding, .messageData),
            ],
            text: .string,
            isOpen: true
        ),
        .adaptationSet: ElementDefinition(
            "5.3.3.2",
            common + link + [
                Attribute.optional(.string, .id, .lang, .contentType), Attribute.optional(.ratio, .par),
                Attribute.optional(
                    .unsigned,
                    .group,
                    .minBandwidth,
                    .maxBandwidth,
                    .minWidth,
                    .maxWidth,
                    .minHeight,
                    .maxHeight,
                    .subsegmentStartsWithSAP
                ),
                Attribute.optional(.frameRate, .minFrameRate, .maxFrameRate),
                Attribute.optional(.booleanOrUnsigned, .segmentAlignment, .subsegmentAlignment),
                Attribute.optional(.boolean, .bitstreamSwitching),
                Attribute.optional(.string, .initializationSetRef, .initializationPrincipal),
            ],
            children: commonChildren.union(addressing).union([
                .accessibility, .role, .rating, .viewpoint, .contentComponent, .representation,
            ])
        ),
        .emptyAdaptationSet: ElementDefinition("5.3.3.2", common + [Attribute.optional(.string, .id)], isOpen: true),
        .subset: ElementDefinition(
            "5.3.8",
            [Attribute.required(.list, .contains), Attribute.optional(.string, .id)]
        ),
        .groupLabel: ElementDefinition("5.3.10", [Attribute.optional(.string, .id, .lang)], text: .string),
        .label: ElementDefinition("5.3.10", [Attribute.optional(.string, .id, .lang)], text: .string),
        .preselection: ElementDefinition(
            "5.3.11.2",
            common + [
                Attribute.optional(.string, .id, .lang, .order),
                Attribute.required(.list, .preselectionComponents),
            ],
            children: commonChildren.union([.accessibility, .role, .rating, .viewpoint])
        ),
        .accessibility: ElementDefinition("5.8.4.3", descriptor, isOpen: true),
        .role: ElementDefinition("5.8.4.2", descriptor, isOpen: true),
        .rating: ElementDefinition("5.8.4.4", descriptor, isOpen: true),
        .viewpoint: ElementDefinition("5.8.4.5", descriptor, isOpen: true),
        .contentComponent: ElementDefinition(
            "5.3.4",
            [
                Attribute.optional(.string, .id, .lang, .contentType, .tag), Attribute.optional(.ratio, .par),
            ],
            children: [.accessibility, .role, .rating, .viewpoint]
        ),
        .framePacking: ElementDefinition("5.8.4.6", descriptor, isOpen: true),
        .audioChannelConfiguration: ElementDefinition("5.8.4.7", descriptor, isOpen: true),
        .outputProtection: ElementDefinition("5.8.4.12", descriptor, isOpen: true),
        .switching: ElementDefinition(
            "5.3.3.4",
            [Attribute.required(.unsigned, .interval), Attribute.optional(.string, .type)]
        ),
        .randomAccess: ElementDefinition(
            "5.3.5.5",
            [
                Attribute.required(.unsigned, .interval), Attribute.optional(.string, .type),
                Attribute.optional(.duration, .minBufferTime), Attribute.optional(.unsigned, .bandwidth),
            ]
        ),
        .producerReferenceTime: ElementDefinition(
            "5.12",
            [
                Attribute.required(.unsigned, .id), Attribute.optional(.boolean, .inband),
                Attribute.optional(.string, .type, .applicationScheme), Attribute.required(.string, .wallClockTime),
                Attribute.required(.integer, .presentationTime),
            ],
            children: [.clockSynchronization]
        ),
        .contentPopularityRate: ElementDefinition("5.14", children: [.popularityRate], isOpen: true),
        .popularityRate: ElementDefinition("5.14", isOpen: true),
        .resynchronization: ElementDefinition(
            "5.3.13",
            [
                Attribute.optional(.unsigned, .type, .dT), Attribute.optional(.decimal, .dImax, .dImin),
                Attribute.optional(.boolean, .marker),
            ]
        ),
        .representation: ElementDefinition(
            "5.3.5.2",
            common + [
                Attribute.required(.string, .id), Attribute.required(.unsigned, .bandwidth),
                Attribute.optional(.unsigned, .qualityRanking),
                Attribute.optional(
                    .list,
                    .dependencyId,
                    .associationId,
                    .associationType,
                    .mediaStreamStructureId
                ),
            ],
            children: commonChildren.union(addressing).union([.subRepresentation, .extendedBandwidth])
        ),
        .subRepresentation: ElementDefinition(
            "5.3.6.2",
            common + [
                Attribute.optional(.unsigned, .level, .bandwidth),
                Attribute.optional(.list, .dependencyLevel, .contentComponent),
            ],
            children: commonChildren
        ),
        .extendedBandwidth: ElementDefinition("5.3.5.6", children: [.modelPair], isOpen: true),
        .modelPair: ElementDefinition("5.3.5.6", isOpen: true),
    ]
}
