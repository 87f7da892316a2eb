import DASHManifest
import MediaTiming
import ReportFormat
import ResourceAddressing

private let address = ResourceAddress("https://origin.example/live/manifest.mpd")

/// Applies the input as a patch to a manifest, and inserts it as the contents of the remote elements of another one.
@Sendable func readManifestUpdate(_ bytes: [UInt8]) {
    applyPatch(bytes)
    insertRemoteElements(bytes)
}

private func applyPatch(_ bytes: [UInt8]) {
    let manifest = patchedManifest
    guard let patch = try? ManifestPatch(parsing: bytes.span), let changed = try? patch.applied(to: manifest.span)
    else { return }
    check(patch.presentationID == "m", "a patch changes another manifest")
    let again = try? patch.applied(to: manifest.span)
    check(again == changed, "a patch has two results")
    checkWritten(changed)
    if let presentation = try? MediaPresentation(parsing: changed.span, address: address) {
        check(!presentation.report.json.isEmpty, "a report is empty")
    }
}

private func insertRemoteElements(_ bytes: [UInt8]) {
    let manifest = linkingManifest
    guard var remote = try? RemoteElements(in: manifest.span, address: address) else {
        return check(false, "the manifest of the target cannot be read")
    }
    var count = 0
    while let reference = remote.references.first, count < 12 {
        check(reference.address.isHTTP, "a remote element is not loaded over HTTP")
        remote.resolve(reference, with: bytes)
        count += 1
    }
    for reference in remote.references { remote.discard(reference) }
    check(remote.references.isEmpty, "a reference remains")
    check(remote.unsupportedLinks.count <= 16, "more links are listed than allowed")
    check(remote.localReferences.isEmpty, "a manifest of a server has local references")
    checkWritten(remote.bytes)
}

/// Checks that a manifest that was written can be read as the same manifest.
private func checkWritten(_ manifest: [UInt8]) {
    // What is added to an element can be nested more deeply than in a manifest that is loaded.
    let limits = ManifestLimits(depth: 256)
    guard let again = try? RemoteElements(in: manifest.span, address: address, limits: limits) else {
        return check(false, "a written manifest is not well-formed")
    }
    // Links that are not followed are removed.
    if !RemoteElements.areUsed(in: manifest) {
        check(again.bytes == manifest, "a written manifest is read as another")
    }
}

private let patchedManifest = Array(
    """
    <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" id="m" type="dynamic"
      publishTime="2024-01-01T00:00:00Z" availabilityStartTime="2024-01-01T00:00:00Z" minimumUpdatePeriod="PT2S">
    <BaseURL>a/</BaseURL>
    <Period id="1" start="PT0S"><AdaptationSet id="v" lang="en" mimeType="video/mp4" codecs="avc1.42c01e">
    <SegmentTemplate timescale="1" initialization="i" media="$Time$.m4s"><SegmentTimeline><S t="0" d="4" r="3"/>
    </SegmentTimeline></SegmentTemplate><Representation id="r" bandwidth="500000"/></AdaptationSet></Period>
    <Period id="2"><AdaptationSet id="v"/><AdaptationSet id="w"/></Period></MPD>
    """.utf8
)

private let linkingManifest = Array(
    """
    <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:xlink="http://www.w3.org/1999/xlink" type="static">
    <Period xlink:href="https://remote.example/period.xml" xlink:actuate="onLoad"/>
    <Period id="2"><AdaptationSet xlink:href="set.xml" id="a"/><EventStream schemeIdUri="urn:x" xlink:href="e.xml"/>
    </Period></MPD>
    """.utf8
)
