/// The rules for renditions and their groups (RFC 8216bis §4.4.6.1).
extension PlaylistInspection {
    func inspectRendition(_ rendition: InspectedEntry) {
        guard !rendition.line.isMalformed else { return }
        if let type = rendition["TYPE"] {
            inspectAttributes(of: rendition, type)
            inspectInstreamID(of: rendition, type)
        }
        inspectChannels(of: rendition)
        if rendition["DEFAULT"] == "YES", rendition["AUTOSELECT"] == "NO" { note(.defaultNotAutoselect, rendition) }
        if let id = rendition["STABLE-RENDITION-ID"], !Grammar.isStableID(id) {
            note(.badStableRenditionID, rendition, "(\(id))")
        }
    }

    /// Checks that the attributes are allowed for the type.
    private func inspectAttributes(of rendition: InspectedEntry, _ type: String) {
        if type == "CLOSED-CAPTIONS", rendition.has("URI") { note(.captionsWithURI, rendition) }
        if type == "SUBTITLES", !rendition.has("URI") { note(.subtitlesWithoutURI, rendition) }
        if type != "SUBTITLES", rendition.has("FORCED") { note(.forcedNotSubtitles, rendition) }
        guard type != "AUDIO" else {
            if !rendition.has("CHANNELS") { note(.missingChannels, rendition) }
            return
        }
        if rendition.has("BIT-DEPTH") { note(.bitDepthNotAudio, rendition) }
        if rendition.has("SAMPLE-RATE") { note(.sampleRateNotAudio, rendition) }
        if rendition.has("CHANNELS") { note(.channelsNotAudio, rendition) }
    }

    private func inspectInstreamID(of rendition: InspectedEntry, _ type: String) {
        let isCaptions = type == "CLOSED-CAPTIONS"
        guard rendition.has("INSTREAM-ID") else {
            if isCaptions { note(.captionsWithoutInstreamID, rendition) }
            return
        }
        guard let id = rendition["INSTREAM-ID"] else { return }
        let isRight = isCaptions ? Grammar.captionsInstreamIDs.contains(id) : Grammar.isInstreamID(id)
        if !isRight { note(isCaptions ? .badCaptionsInstreamID : .badInstreamID, rendition, "(\(id))") }
    }

    private func inspectChannels(of rendition: InspectedEntry) {
        guard rendition["TYPE"] == "AUDIO", let channels = rendition["CHANNELS"] else { return }
        guard Grammar.isChannels(channels) else {
            note(.badChannels, rendition, "(\(channels))")
            return
        }
        let parts = Grammar.parts(channels, "/")
        guard parts.count > 2, !parts[2].isEmpty else { return }
        if parts[1].isEmpty {
            note(.channelUsageWithoutCoding, rendition, "(\(channels))")
        } else if !Grammar.parts(parts[2], ",").allSatisfy(Grammar.isChannelUsage) {
            note(.unknownChannelUsage, rendition, "(\(channels))")
        }
    }

    // MARK: Groups

    func inspectGroups(_ groups: InspectedGroups) {
        var models: [String: [String?: InspectedEntry]] = [:]
        for key in groups.keys {
            let members = groups.members(key)
            inspectMembers(members)
            let byName = Dictionary(members.map { ($0["NAME"], $0) }, uniquingKeysWith: { $1 })
            if let model = models[key.type] {
                compare(members, byName, with: model)
            } else {
                models[key.type] = byName
            }
        }
    }

    /// Checks that the members of a group can be distinguished.
    private func inspectMembers(_ members: [InspectedEntry]) {
        var names: Set<String> = []
        var choices: Set<[String?]> = []
        var hasDefault = false
        for member in members {
            if let name = member["NAME"], !names.insert(name).inserted { note(.repeatedName, member, "(\(name))") }
            if member["DEFAULT"] == "YES" {
                if hasDefault { note(.repeatedDefault, member) }
                hasDefault = true
            }
            guard member["AUTOSELECT"] == "YES" else { continue }
            let choice = [
                member["LANGUAGE"], member["ASSOC-LANGUAGE"], member["FORCED"] ?? "NO", member["CHARACTERISTICS"],
            ]
            if !choices.insert(choice).inserted { note(.autoselectAmbiguous, member) }
        }
    }

    /// Compares a group with the first group of its type.
    ///
    /// - Parameters:
    ///   - members: The members of the group, in order.
    ///   - byName: The members by `NAME`; of several with the same name, the last.
    ///   - model: The members of the first group, by `NAME`.
    private func compare(
        _ members: [InspectedEntry],
        _ byName: [String?: InspectedEntry],
        with model: [String?: InspectedEntry]
    ) {
        guard byName.count == model.count, byName.keys.allSatisfy({ model[$0] != nil }) else {
            if let first = members.first { note(.groupMembersDiffer, first) }
            return
        }
        for member in members where byName[member["NAME"]]?.line.number == member.line.number {
            guard let other = model[member["NAME"]] else { continue }
            let differs =
                ["LANGUAGE", "ASSOC-LANGUAGE", "CHARACTERISTICS"].contains { member[$0] != other[$0] }
                || ["DEFAULT", "AUTOSELECT", "FORCED"].contains { (member[$0] ?? "NO") != (other[$0] ?? "NO") }
            if differs { note(.groupAttributesDiffer, member, "(\(member["NAME"] ?? ""))") }
        }
    }
}
