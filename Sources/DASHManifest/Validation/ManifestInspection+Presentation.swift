import MediaTiming

extension ManifestInspection {
    private static let profilePrefix = "urn:mpeg:dash:profile:"

    /// The profiles of ISO/IEC 23009-1:2022 clause 8.
    private static let profiles: Set<String> = [
        "urn:mpeg:dash:profile:full:2011", "urn:mpeg:dash:profile:isoff-on-demand:2011",
        "urn:mpeg:dash:profile:isoff-ext-on-demand:2014", "urn:mpeg:dash:profile:isoff-live:2011",
        "urn:mpeg:dash:profile:isoff-ext-live:2014", "urn:mpeg:dash:profile:isoff-common:2014",
        "urn:mpeg:dash:profile:isoff-broadcast:2015", "urn:mpeg:dash:profile:isoff-main:2011",
        "urn:mpeg:dash:profile:mp2t-main:2011", "urn:mpeg:dash:profile:mp2t-simple:2011",
        "urn:mpeg:dash:profile:cmaf:2019", "urn:mpeg:dash:profile:cmaf-extended:2019",
        "urn:mpeg:dash:profile:advanced-live:2017",
    ]

    /// Checks the rules for the `MPD` element (§5.3.1).
    mutating func inspectPresentation() {
        let root = presentation.element
        if root[.profiles] != nil, presentation.profiles.isEmpty { report(.emptyProfiles, root) }
        for profile in presentation.profiles
        where profile.hasPrefix(Self.profilePrefix) && !Self.profiles.contains(profile) {
            report(.unknownProfile, root, value: profile)
        }
        switch presentation.kind {
        case .static:
            if root[.minimumUpdatePeriod] != nil { report(.updatePeriodInStatic, root) }
            if root[.timeShiftBufferDepth] != nil || root[.suggestedPresentationDelay] != nil {
                report(.windowInStatic, root)
            }
        case .dynamic:
            if root[.availabilityStartTime] == nil { report(.missingAvailabilityStart, root) }
            if root[.publishTime] == nil { report(.missingPublishTime, root) }
            if presentation.profiles.contains("urn:mpeg:dash:profile:isoff-on-demand:2011") {
                report(.dynamicOnDemand, root)
            }
        }
        if root[.mediaPresentationDuration] == nil, root[.minimumUpdatePeriod] == nil,
            let last = presentation.periods.last, last.element[.duration] == nil, last.link == nil
        {
            report(.missingDuration, root)
        }
        if let start = presentation.availabilityStartTime, let end = presentation.availabilityEndTime,
            end.sinceEpoch <= start.sinceEpoch
        {
            report(.availabilityEndBeforeStart, root)
        }
        let information = root.elements(.programInformation)
        if information.count > 1 {
            for element in information where element[.lang] == nil {
                report(.programInformationWithoutLanguage, element)
            }
        }
        if let patch = root.element(.patchLocation), root[.id] == nil { report(.patchLocationWithoutID, patch) }
        inspectContentSteering()
    }

    private mutating func inspectContentSteering() {
        guard let steering = presentation.contentSteering, let name = steering[.defaultServiceLocation] else { return }
        var known: Set<String> = []
        let root = presentation.element
        for element in root.elements(.baseURL) + root.elements(.location) {
            if let location = element[.serviceLocation] { known.insert(location) }
        }
        for period in presentation.periods {
            for element in period.element.elements(.baseURL) {
                if let location = element[.serviceLocation] { known.insert(location) }
            }
            for set in period.adaptationSets {
                for element in set.element.elements(.baseURL) {
                    if let location = element[.serviceLocation] { known.insert(location) }
                }
            }
        }
        for item in ManifestNumber.items(name, separator: " ") where !known.contains(item) {
            report(.unknownServiceLocation, steering, value: item)
        }
    }

    /// Checks the times and identifiers of the periods (§5.3.2), and what is in them.
    mutating func inspectPeriods() {
        let periods = presentation.periods
        var identifiers: Set<String> = []
        var latest: MediaTime?
        for (index, period) in periods.enumerated() {
            let element = period.element
            if let id = period.id {
                if !identifiers.insert(id).inserted { report(.duplicatePeriodID, element, value: id) }
            } else if presentation.kind == .dynamic, period.link == nil {
                report(.missingPeriodID, element)
            }
            if presentation.kind == .static {
                if index == 0, let start = period.start, start > .zero { report(.staticPeriodStart, element) }
                if index > 0, period.start == nil, period.link == nil, periods[index - 1].link == nil {
                    report(.missingPeriodStart, element)
                }
            }
            if let start = period.start {
                if let latest, start < latest { report(.periodOrder, element) }
                if let end = presentation.mediaPresentationDuration, start > .zero, start >= end {
                    report(.periodBeyondEnd, element)
                }
                latest = max(latest ?? start, start)
                if let duration = element.duration(.duration), index + 1 < periods.count,
                    let next = periods[index + 1].start, start <= next, next < start + duration
                {
                    report(.periodOverlap, element)
                }
            }
            inspect(period)
        }
    }
}
