/// The name of an attribute of a media presentation description (ISO/IEC 23009-1:2022 clause 5).
///
/// Names with a colon belong to an extension namespace; ``namespace`` has its name.
package enum AttributeName: String, Sendable, Hashable, CaseIterable {
    case associationId, associationType, audioSamplingRate, availabilityEndTime, availabilityStartLeapOffset
    case availabilityStartTime, availabilityTimeComplete, availabilityTimeOffset, bandwidth, bitstreamSwitching
    case byteRange, clientRequirement, codecs, codingDependency, containerProfiles, contains, contentComponent
    case contentEncoding, contentType, d, dImax, dImin, dT, defaultServiceLocation, dependencyId, dependencyLevel
    case duration, endNumber, eptDelta, frameRate, group, id, inAllPeriods, inband, index, indexRange
    case indexRangeExact, initialization, initializationPrincipal, initializationSetRef, interval, k, lang, level
    case marker, max, maxBandwidth, maxFrameRate, maxHeight, maxPlayoutRate, maxSegmentDuration
    case maxSubsegmentDuration, maxWidth, maximumSAPPeriod, media, mediaPresentationDuration, mediaRange
    case mediaStreamStructureId, messageData, metrics, mimeType, min, minBandwidth, minBufferTime, minFrameRate
    case minHeight, minWidth, minimumUpdatePeriod, moreInformationURL, n, nextAvailabilityStartLeapOffset
    case nextLeapChangeTime, order, par, pdDelta, preselectionComponents, presentationDuration
    case presentationTime, presentationTimeOffset, profiles, publishTime, qualityRanking
    case queryBeforeStart, r, range, rangeAccess, ref, refId, referenceId, robustness, sar, scanType
    case schemeIdUri, segmentAlignment, segmentProfiles, selectionPriority, serviceLocation, sourceURL, start
    case startNumber, startWithSAP, starttime, subsegmentAlignment, subsegmentStartsWithSAP
    case suggestedPresentationDelay, t, tag, target, timeShiftBufferDepth, timescale, ttl, type, value
    case wallClockTime, width, height, applicationScheme, proxyServerURL
    case contentProtectionDefaultKeyID = "cenc:default_KID"
    case dvbPriority = "dvb:priority"
    case dvbWeight = "dvb:weight"
    case linkActuate = "xlink:actuate"
    case linkReference = "xlink:href"
    case supplementalCodecs = "scte214:supplementalCodecs"
    case supplementalProfiles = "scte214:supplementalProfiles"

    /// The namespaces of extensions, by the prefix that ``rawValue`` spells.
    private static let namespaces = [
        "cenc": "urn:mpeg:cenc:2013",
        "dvb": "urn:dvb:dash:dash-extensions:2014-1",
        "scte214": "urn:scte:dash:scte214-extensions",
        "xlink": "http://www.w3.org/1999/xlink",
    ]

    /// The namespace name of the attribute; empty for the attributes that ISO/IEC 23009-1 defines itself.
    package var namespace: String {
        rawValue.firstIndex(of: ":").flatMap { Self.namespaces[String(rawValue[..<$0])] } ?? ""
    }

    /// The name without the prefix of its namespace.
    package var localName: String {
        rawValue.firstIndex(of: ":").map { String(rawValue[rawValue.index(after: $0)...]) } ?? rawValue
    }
}
