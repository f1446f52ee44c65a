{{/* Name of the release's objects, at most 52 characters, so that a role can follow. */}}
{{- define "verbatim.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels that select pods: they never change. */}}
{{- define "verbatim.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "verbatim.labels" -}}
{{ include "verbatim.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* What every container of the chart may do: nothing beyond its own process and its volumes. */}}
{{- define "verbatim.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* The folders that a container may write to. Takes a dict of `role` and `values`. */}}
{{- define "verbatim.mounts" -}}
- name: data
  mountPath: /data
- name: tmp
  mountPath: /tmp
{{- if and (eq .role "transcriber") .values.models.claim }}
- name: models
  mountPath: /data/models
{{- end }}
{{- end -}}
